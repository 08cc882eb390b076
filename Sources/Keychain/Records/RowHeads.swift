package import SecretCrypto

/// A directory's row without its ciphertexts: what the digest is over (contract, S2).
package struct DirectoryHead: Hashable, Sendable {
    package var id: RowID
    package var parent: RowID
    package var version: Int64
    package var generation: Int64
    package var tag: [UInt8]
    package var alwaysTag: [UInt8]?
    package var nameSeal: NonceAndTag
    package var alwaysNameSeal: NonceAndTag?

    package init(
        id: RowID, parent: RowID, version: Int64, generation: Int64, tag: [UInt8], alwaysTag: [UInt8]?,
        nameSeal: NonceAndTag, alwaysNameSeal: NonceAndTag?
    ) {
        self.id = id
        self.parent = parent
        self.version = version
        self.generation = generation
        self.tag = tag
        self.alwaysTag = alwaysTag
        self.nameSeal = nameSeal
        self.alwaysNameSeal = alwaysNameSeal
    }
}

/// An item's row without its ciphertexts: what the digest is over (contract, S2).
package struct ItemHead: Hashable, Sendable {
    package var id: RowID
    package var directory: RowID
    package var version: Int64
    package var protection: Protection
    package var generation: Int64
    package var tag: [UInt8]
    package var alwaysTag: [UInt8]?
    package var ephemeral: [UInt8]?
    package var mac: [UInt8]?
    package var metadataSeal: NonceAndTag
    package var secretSeals: [NonceAndTag]

    package init(
        id: RowID, directory: RowID, version: Int64, protection: Protection, generation: Int64, tag: [UInt8],
        alwaysTag: [UInt8]?, ephemeral: [UInt8]?, mac: [UInt8]?, metadataSeal: NonceAndTag, secretSeals: [NonceAndTag]
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
        self.metadataSeal = metadataSeal
        self.secretSeals = secretSeals
    }
}

extension DirectoryRecord {
    package var head: DirectoryHead {
        DirectoryHead(
            id: id, parent: parent, version: version, generation: generation, tag: tag, alwaysTag: alwaysTag,
            nameSeal: name.seal, alwaysNameSeal: alwaysName?.seal)
    }
}

extension ItemRecord {
    package var head: ItemHead {
        ItemHead(
            id: id, directory: directory, version: version, protection: protection, generation: generation, tag: tag,
            alwaysTag: alwaysTag, ephemeral: ephemeral, mac: mac, metadataSeal: metadata.seal,
            secretSeals: secretSeals)
    }
}
