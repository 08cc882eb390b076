package import SecretCrypto

/// The plaintext of ``StoreRecord/header``: what tells that a row was removed or put back (contract, S2).
package struct StoreHeader: Hashable, Sendable {
    /// Bytes of the digest.
    package static let digestCount = 32

    /// Rises with every commit; 0 in a store nothing was committed to since it was made.
    package var commit: Int64
    /// Rows that the digest is over: directories and items.
    package var rowCount: Int64
    /// The sum of the rows' digests modulo 2^256, little endian; zero for no row.
    package var digest: [UInt8]

    package init(commit: Int64 = 0, rowCount: Int64 = 0, digest: [UInt8] = Array(repeating: 0, count: digestCount)) {
        self.commit = commit
        self.rowCount = rowCount
        self.digest = digest
    }

    /// Seals it under the digest key.
    package func sealed(by key: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) -> Sealed {
        var plaintext = [UInt8](littleEndian: commit)
        plaintext.append(littleEndian: rowCount)
        plaintext.append(contentsOf: digest)
        let bound = AssociatedData(.header, store: store)
        let (seal, ciphertext) = try AEAD.seal(plaintext.rawSpan, key: key, associatedData: bound.bytes)
        return Sealed(seal: seal, ciphertext: ciphertext)
    }

    /// Opens the header of a store; `decode` if it is not what was sealed.
    package init(opening sealed: Sealed, key: RevocableSecret, store: [UInt8]) throws(KeychainError) {
        let bound = AssociatedData(.header, store: store)
        let plaintext = try key.using { (key) throws(CryptoError) in
            try AEAD.open(sealed.ciphertext.rawSpan, seal: sealed.seal, key: key, associatedData: bound.bytes)
        }
        var reader = ByteReader([UInt8](copying: plaintext.bytes))
        commit = try reader.integer()
        rowCount = try reader.integer()
        digest = try reader.bytes(Self.digestCount)
        try reader.finish()
        guard commit >= 0, rowCount >= 0 else { throw .decode }
    }
}
