import Foundation
import Security

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An API token in the keychain: made, read, deleted.
struct TokenStorage {
    struct Failure: Error, CustomStringConvertible {
        let status: OSStatus

        var description: String { SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)" }
    }

    let service: String
    let account: String

    private var key: [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    /// Adds a token. An existing one is kept, and the call throws.
    func create(_ token: String) throws {
        var item = key
        item[kSecValueData as String] = Data(token.utf8)
        item[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    /// The token, or nil if the item does not exist.
    func read() throws -> String? {
        var query = key
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        guard status != errSecItemNotFound else { return nil }
        try check(status)
        return (result as? Data).flatMap { String(data: $0, encoding: .utf8) }
    }

    func delete() throws {
        let status = SecItemDelete(key as CFDictionary)
        guard status != errSecItemNotFound else { return }
        try check(status)
    }

    private func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw Failure(status: status) }
    }
}

extension URLRequest {
    /// Authorizes the request with a token of the keychain.
    mutating func authorize(with storage: TokenStorage) throws {
        guard let token = try storage.read() else { throw TokenStorage.Failure(status: errSecItemNotFound) }
        setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    }
}
