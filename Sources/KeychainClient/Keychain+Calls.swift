import KeychainRPC
import SecretCrypto

extension Keychain {
    /// Sends one request. `receive` gets the results one by one; they are invalid if this throws.
    func call(
        _ operation: ItemRequest.Operation, _ query: [String: PropertyList],
        to attributes: [String: PropertyList] = [:], secret: borrowing SecretBytes,
        receive: (PropertyList, borrowing ResponseFrame) -> Void = { _, _ in }
    ) throws(KeychainError) {
        let request = ItemRequest(operation, query: query, attributes: attributes, accessGroups: accessGroups)
        let status = connection.perform(request, secret: secret.bytes) { frame in
            for entry in frame.entries { receive(entry, frame) }
        }
        guard status == 0 else { throw KeychainError(status: status) }
    }

    /// Sends one request without a secret.
    func call(
        _ operation: ItemRequest.Operation, _ query: [String: PropertyList],
        to attributes: [String: PropertyList] = [:],
        receive: (PropertyList, borrowing ResponseFrame) -> Void = { _, _ in }
    ) throws(KeychainError) {
        try call(operation, query, to: attributes, secret: try Secret.empty().bytes, receive: receive)
    }

    /// Returns the secret of the single item that a query finds.
    func secret(where query: [String: PropertyList]) throws(KeychainError) -> Secret {
        var query = query
        query["r_Data"] = .boolean(true)
        var found: SecretBytes?
        var isOutOfMemory = false
        try call(.copyMatching, query) { entry, frame in
            guard case .secret(let index) = entry, let bytes = frame.secret(index) else { return }
            found = try? SecretBytes(copying: bytes)
            isOutOfMemory = found == nil
        }
        guard !isOutOfMemory else { throw .outOfMemory }
        // An item without a secret is treated as one with an empty secret.
        guard let found = found.take() else { return try Secret.empty() }
        return Secret(found)
    }
}
