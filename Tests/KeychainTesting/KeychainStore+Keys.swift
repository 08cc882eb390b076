internal import SecretCrypto

@testable package import Keychain

/// Certificates, keys and templates, which this program copies and verifies, but does not support yet.
extension KeychainStore {
    /// Adds a container of an item class that this program does not support.
    package func addContainer(
        _ itemClass: StoredItemClass, in group: RowID = .none, file: PosixAttributes
    ) throws(KeychainFault) -> RowID {
        guard let scope = UnsupportedScope(itemClass) else { throw .param }
        return try change { (transaction) throws(KeychainFault) in
            try transaction.addDirectory(.unsupported(scope), in: group, file: file).id
        }
    }

    /// Adds an item with its item keys.
    ///
    /// - Parameter item: Has fields and attributes of its class.
    @discardableResult
    package func add(_ item: Item, contents: [UInt8]) throws(KeychainFault) -> Item {
        try change { (transaction) throws(KeychainFault) in
            var item = item
            item.secretCount = contents.count
            let saved = try transaction.save(item, secret: ArraySecret(bytes: contents))
            for key in try keys.itemKeys(of: saved) { try transaction.writer.put(key) }
            return saved
        }
    }

    /// Adds item keys with any tags.
    package func addItemKeys(to item: RowID, tags: [[UInt8]]) throws(KeychainFault) {
        try change { (transaction) throws(KeychainFault) in
            for (index, tag) in tags.enumerated() {
                try transaction.writer.put(ItemKeyRecord(item: item, kind: Int64(index + 1), tag: tag))
            }
        }
    }
}

private struct ArraySecret: SecretSource {
    let bytes: [UInt8]
    var secretCount: Int { bytes.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let source = bytes.rawSpan
        return try source.readSecret(at: offset, into: &output)
    }
}

extension Item {
    /// Sets the fields and attributes that a certificate or known private key has.
    package mutating func becomeKey(_ itemClass: StoredItemClass, publicKey: UInt8 = 1) {
        let number: [UInt8] = [3, 1] + [UInt8](repeating: 0, count: 7)
        // kSecAttrCertificateType = 1 and the serial number of a certificate; kSecAttrKeyClass = 1.
        let attribute: [UInt8] =
            itemClass == .certificate
            ? [34, 9, 0, 0, 0] + number + [38, 2, 0, 0, 0, 2, 9] : [41, 9, 0, 0, 0] + number
        keyFields[.primaryKey] = attribute
        keyFields[.publicKey] = [UInt8](repeating: publicKey, count: 20)
        // kSecAttrIsPermanent = 1.
        laterAttributes = [LaterField(tag: 50, value: number)]
    }
}
