/// A directory's row. Readable except for the sealed members.
package struct DirectoryRecord: Hashable, Sendable {
    package var id: RowID
    package var parent: RowID
    package var version: Int64
    /// The generation of the master keys whose directory key seals the name.
    package var masterKeyGeneration: Int64
    /// The lookup tag, BLAKE2b-128(lookup key; …): unique.
    package var tag: [UInt8]
    /// The tag under the Always lookup key; nil unless the directory contains an Always item.
    package var alwaysTag: [UInt8]?
    package var name: Sealed
    /// The name under the Always keys; nil unless the directory contains an Always item.
    package var alwaysName: Sealed?

    package init(
        id: RowID, parent: RowID, version: Int64, masterKeyGeneration: Int64, tag: [UInt8], alwaysTag: [UInt8]?,
        name: Sealed, alwaysName: Sealed?
    ) {
        self.id = id
        self.parent = parent
        self.version = version
        self.masterKeyGeneration = masterKeyGeneration
        self.tag = tag
        self.alwaysTag = alwaysTag
        self.name = name
        self.alwaysName = alwaysName
    }
}

/// An item's row without the ciphertext of its secret. Readable except for the sealed members.
package struct ItemRecord: Hashable, Sendable {
    package var id: RowID
    package var directory: RowID
    package var version: Int64
    package var protection: ProtectionClass
    /// The generation of the class keys that seal the row.
    package var generation: Int64
    /// The generation of the master keys whose row-MAC key `mac` or `ephemeral` needs; nil if both are nil.
    package var masterKeyGeneration: Int64?
    /// The number of the row with the ciphertext of a long secret; nil for a short secret or none.
    package var secretRow: RowID?
    /// The lookup tag, BLAKE2b-128(lookup key; directory, account): unique.
    package var tag: [UInt8]
    /// The tag under the Always lookup key; nil unless it is an Always item.
    package var alwaysTag: [UInt8]?
    /// For a WhenUnlockedUnlessOpen item that was added while locked, the public key of the pair that sealed it (32
    /// bytes).
    package var ephemeral: [UInt8]?
    /// The MAC of an Always item, which covers its secret (32 bytes); nil for other items.
    package var mac: [UInt8]?
    package var metadata: Sealed
    /// The seals of the chunks of the secret; empty for an item without one.
    package var secretSeals: ChunkSeals

    /// The maximum size in bytes of a ciphertext that is in its item's row. A short secret there saves a query per open
    /// and a page per commit. A long one has its own row, because SQLite writes whole rows: a new xattr would otherwise
    /// write a secret of 1 MiB again.
    package static let longestShortSecret = 1024

    package init(
        id: RowID, directory: RowID, version: Int64, protection: ProtectionClass, generation: Int64,
        masterKeyGeneration: Int64? = nil, secretRow: RowID? = nil, tag: [UInt8], alwaysTag: [UInt8]?,
        ephemeral: [UInt8]?, mac: [UInt8]?, metadata: Sealed, secretSeals: ChunkSeals
    ) {
        self.id = id
        self.directory = directory
        self.version = version
        self.protection = protection
        self.generation = generation
        self.masterKeyGeneration = masterKeyGeneration
        self.secretRow = secretRow
        self.tag = tag
        self.alwaysTag = alwaysTag
        self.ephemeral = ephemeral
        self.mac = mac
        self.metadata = metadata
        self.secretSeals = secretSeals
    }
}
