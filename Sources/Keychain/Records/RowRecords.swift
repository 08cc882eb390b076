package import SecretCrypto

/// A directory's row. Readable: everything but the sealed members.
package struct DirectoryRecord: Hashable, Sendable {
    package var id: RowID
    package var parent: RowID
    package var version: Int64
    /// The generation of the directory key.
    package var generation: Int64
    /// BLAKE2b-128(look-up key; …): unique.
    package var tag: [UInt8]
    /// The same under the Always look-up key, while it holds an Always item.
    package var alwaysTag: [UInt8]?
    package var name: Sealed
    /// The same under the Always keys, while it holds an Always item.
    package var alwaysName: Sealed?

    package init(
        id: RowID, parent: RowID, version: Int64, generation: Int64, tag: [UInt8], alwaysTag: [UInt8]?, name: Sealed,
        alwaysName: Sealed?
    ) {
        self.id = id
        self.parent = parent
        self.version = version
        self.generation = generation
        self.tag = tag
        self.alwaysTag = alwaysTag
        self.name = name
        self.alwaysName = alwaysName
    }
}

/// An item's row, but for the ciphertext of its secret. Readable: everything but the sealed members.
package struct ItemRecord: Hashable, Sendable {
    package var id: RowID
    package var directory: RowID
    package var version: Int64
    package var protection: ProtectionClass
    /// The generation of the class keys that seal it.
    package var generation: Int64
    /// BLAKE2b-128(look-up key; directory, account): unique.
    package var tag: [UInt8]
    /// The same under the Always look-up key; only for Always items.
    package var alwaysTag: [UInt8]?
    /// WhenUnlockedUnlessOpen, added while locked: the public half of the pair that sealed it (32 bytes).
    package var ephemeral: [UInt8]?
    /// The row MAC that goes with `ephemeral` (32 bytes).
    package var mac: [UInt8]?
    package var metadata: Sealed
    /// One per chunk of the secret; empty for an item without one.
    package var secretNoncesAndTags: [NonceAndTag]

    package init(
        id: RowID, directory: RowID, version: Int64, protection: ProtectionClass, generation: Int64, tag: [UInt8],
        alwaysTag: [UInt8]?, ephemeral: [UInt8]?, mac: [UInt8]?, metadata: Sealed, secretNoncesAndTags: [NonceAndTag]
    ) {
        self.id = id
        self.directory = directory
        self.version = version
        self.protection = protection
        self.generation = generation
        self.tag = tag
        self.alwaysTag = alwaysTag
        self.ephemeral = ephemeral
        self.mac = mac
        self.metadata = metadata
        self.secretNoncesAndTags = secretNoncesAndTags
    }
}
