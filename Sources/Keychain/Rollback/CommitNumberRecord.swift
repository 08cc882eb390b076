import SecretCrypto

/// A commit number as stored outside of the keychain, with a MAC that requires its keys.
///
/// Version (1 byte, 1), store ID (16), number (8, little-endian), BLAKE2b-256(commit-number key; preceding bytes).
struct CommitNumberRecord {
    static let byteCount = 1 + StoreRecord.identifierCount + 8 + macCount
    private static let version: UInt8 = 1
    private static let macCount = 32

    private let key: RevocableSecret
    private let store: [UInt8]

    init(key: RevocableSecret, store: [UInt8]) {
        self.key = key
        self.store = store
    }

    func bytes(of number: Int64) throws(KeychainFault) -> [UInt8] {
        let head = [Self.version] + store + [UInt8](littleEndian: number)
        return head + (try mac(head))
    }

    /// Returns the number; nil unless these bytes were created for this store with its keys.
    func number(in bytes: [UInt8]) throws(KeychainFault) -> Int64? {
        guard bytes.count == Self.byteCount else { return nil }
        let head = Array(bytes.prefix(Self.byteCount - Self.macCount))
        guard head.starts(with: [Self.version] + store) else { return nil }
        guard try mac(head).isEqualInConstantTime(to: bytes.suffix(Self.macCount)) else { return nil }
        var reader = ByteReader(Array(head.suffix(8)))
        let number: Int64 = try reader.integer()
        return number >= 0 ? number : nil
    }

    private func mac(_ head: [UInt8]) throws(KeychainFault) -> [UInt8] {
        try key.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: [head], count: Self.macCount)
        }
    }
}

extension [UInt8] {
    /// Compares all bytes, regardless of differences.
    fileprivate func isEqualInConstantTime(to other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
