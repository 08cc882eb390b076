package import SecretCrypto

/// The plaintext of ``StoreRecord/header``: what tells that a row was removed or put back (contract, S2).
package struct StoreHeader: Hashable, Sendable {
    private static let byteCount = 16 + digestCount
    /// Bytes of the digest.
    package static let digestCount = 32

    /// The number of the last transaction; 1 is the one that made the store.
    package var commit: Int64
    /// All rows but the header itself: their number and the sum of their digests.
    package var rows: DigestSum

    package init(commit: Int64 = 0, rows: DigestSum = DigestSum()) {
        self.commit = commit
        self.rows = rows
    }

    /// Seals it under the header key: commit number, row count (8 bytes each), digest (32), all little endian.
    package func sealed(by key: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) -> Sealed {
        var plaintext = [UInt8](littleEndian: commit)
        plaintext.append(littleEndian: rows.count)
        plaintext.append(contentsOf: rows.digest)
        return try Sealed.sealing(plaintext.rawSpan, key: key, bound: AssociatedData(.header, store: store))
    }

    /// Opens the header of a store; `decode` if it is not what was sealed.
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
