package import SecretCrypto

/// The plaintext of ``StoreRecord/header``, by which removed and restored rows are detected (contract, S2).
package struct StoreHeader: Hashable, Sendable {
    private static let byteCount = 16 + digestCount
    /// The size of the digest in bytes.
    package static let digestCount = 32

    /// The number of the last transaction. The first one, 1, has created the store.
    package var commit: Int64
    /// The number of all rows except the header, and the sum of their digests.
    package var rows: DigestSum

    package init(commit: Int64 = 0, rows: DigestSum = DigestSum()) {
        self.commit = commit
        self.rows = rows
    }

    /// Seals the header under the header key: commit number, row count (8 bytes each), digest (32), all little-endian.
    package func sealed(by key: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) -> Sealed {
        var plaintext = [UInt8](littleEndian: commit)
        plaintext.append(littleEndian: rows.count)
        plaintext.append(contentsOf: rows.digest)
        return try Sealed.sealing(plaintext.rawSpan, key: key, bound: AssociatedData(.header, store: store))
    }

    /// Opens the header of a store.
    ///
    /// - Throws: `decode` if it is not authentic.
    package init(opening sealed: Sealed, key: RevocableSecret, store: [UInt8]) throws(KeychainFault) {
        let bound = AssociatedData(.header, store: store)
        let plaintext = try key.using { (key) throws(CryptoError) in
            try sealed.open(key: key, bound: bound, count: Self.byteCount)
        }
        var reader = ByteReader([UInt8](copying: plaintext.bytes))
        commit = try reader.integer()
        let count = try reader.integer(Int64.self)
        let digest = try reader.bytes(Self.digestCount)
        try reader.finish()
        guard commit >= 0, commit < .max, count >= 0, let rows = DigestSum(count: count, digest: digest) else {
            throw .decode
        }
        self.rows = rows
    }
}
