/// The row of a past value: what an item contained before it was replaced or deleted. Readable except for the sealed members.
package struct PastRecord: Hashable, Sendable {
    /// Given when the value became past, so that ascending IDs are ascending times.
    package var id: RowID
    /// The class and the generation of the class keys that seal the value.
    package var protection: ProtectionClass
    package var generation: Int64
    /// The generation of the master keys whose past key seals `info`.
    package var masterKeyGeneration: Int64
    /// The number of the row with the ciphertext of a long secret; nil for a short secret or none.
    package var secretRow: RowID?
    /// The lookup tag, BLAKE2b-128(lookup key; persistent reference). Several past values of an item share it.
    package var tag: [UInt8]
    /// The ``PastInfo``, which contains the nonce and tag of the metadata: without the past key they cannot be opened.
    package var info: Sealed
    /// The seals of the chunks of the secret; empty for a value without one.
    package var secretSeals: ChunkSeals
    /// The ciphertext of the item's metadata.
    package var metadata: [UInt8]

    package init(
        id: RowID, protection: ProtectionClass, generation: Int64, masterKeyGeneration: Int64, secretRow: RowID? = nil,
        tag: [UInt8], info: Sealed, secretSeals: ChunkSeals, metadata: [UInt8]
    ) {
        self.id = id
        self.protection = protection
        self.generation = generation
        self.masterKeyGeneration = masterKeyGeneration
        self.secretRow = secretRow
        self.tag = tag
        self.info = info
        self.secretSeals = secretSeals
        self.metadata = metadata
    }
}

/// A lookup tag of a certificate or key, which belongs to the item's row.
package struct ItemKeyRecord: Hashable, Sendable {
    /// The primary key of the row.
    package struct Position: Hashable, Sendable {
        package var item: RowID
        /// 1 for the primary key, 2 for the public key.
        package var kind: Int64

        package init(item: RowID, kind: Int64) { (self.item, self.kind) = (item, kind) }
    }

    package var position: Position
    package var tag: [UInt8]

    package init(item: RowID, kind: Int64, tag: [UInt8]) {
        (position, self.tag) = (Position(item: item, kind: kind), tag)
    }
}

/// A page of ``ItemKeyRecord``.
package struct ItemKeyPage: Sendable {
    package var records: [ItemKeyRecord] = []
    /// The number of malformed rows in the page.
    package var malformed = 0
    /// The last row of the page; nil after the last page.
    package var last: ItemKeyRecord.Position?

    package init() {}
}

/// Reads of past values and item keys.
package protocol PastRecordReader {
    func past(id: RowID) throws(KeychainFault) -> PastRecord?
    /// Returns a past value and the ciphertext of its secret, with all chunks in order; empty for a value without a secret,
    /// and if it has two ciphertexts or one that is not where its size puts it.
    func pastWithSecret(id: RowID) throws(KeychainFault) -> (past: PastRecord, secret: [UInt8])?
    /// Returns at most `limit` past values with IDs greater than `after`, in the order of IDs.
    func pastValues(after: RowID, limit: Int) throws(KeychainFault) -> [PastRecord]
    /// Returns only IDs, including those of rows that cannot be decoded.
    func pastIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns at most `limit` IDs of past values under old class keys or old master keys, likewise.
    func pastIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns at most `limit` IDs of past values of a class, in any order. O(n).
    func pastIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID]
    /// Returns the number of past values. O(n).
    func pastCount() throws(KeychainFault) -> Int
    /// Returns the number of bytes that a past value uses of ``PastLimits/byteLimit``: 512, and the sizes of its info, metadata
    /// and secret. 0 for a missing row.
    func pastBytes(of id: RowID) throws(KeychainFault) -> Int64
    /// Returns the number of bytes of all past values. O(n).
    func pastBytes() throws(KeychainFault) -> Int64

    /// Returns at most `limit` item keys after a position, in the order of items and kinds.
    func itemKeys(after: ItemKeyRecord.Position?, limit: Int) throws(KeychainFault) -> ItemKeyPage
    /// Returns the keys of an item in the order of kinds.
    ///
    /// - Throws: ``KeychainFault/decode`` if one is malformed.
    func itemKeys(of item: RowID) throws(KeychainFault) -> [ItemKeyRecord]
    /// Returns the number of item keys. O(n).
    func itemKeyCount() throws(KeychainFault) -> Int
}

/// Changes of past values and item keys.
package protocol PastRecordWriter: PastRecordReader {
    /// Inserts or replaces a past value. A nil `secret` keeps the present ciphertext. The sizes and places of ciphertexts are
    /// those of items.
    func put(_ past: PastRecord, secret: [UInt8]?) throws(KeychainFault)
    /// A missing row is not an error.
    func deletePast(_ id: RowID) throws(KeychainFault)
    /// Inserts or replaces an item key. ``RecordWriter/deleteItem(_:)`` deletes those of the item.
    func put(_ key: ItemKeyRecord) throws(KeychainFault)
}
