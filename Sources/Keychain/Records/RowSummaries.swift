package import SecretCrypto

/// A directory's row without its ciphertexts: the input of its digest (contract, S2).
package struct DirectoryRowSummary: Hashable, Sendable {
    package var id: RowID
    package var parent: RowID
    package var version: Int64
    package var generation: Int64
    package var tag: [UInt8]
    package var alwaysTag: [UInt8]?
    package var nameNonceAndTag: NonceAndTag
    package var alwaysNameNonceAndTag: NonceAndTag?

    package init(
        id: RowID, parent: RowID, version: Int64, generation: Int64, tag: [UInt8], alwaysTag: [UInt8]?,
        nameNonceAndTag: NonceAndTag, alwaysNameNonceAndTag: NonceAndTag?
    ) {
        self.id = id
        self.parent = parent
        self.version = version
        self.generation = generation
        self.tag = tag
        self.alwaysTag = alwaysTag
        self.nameNonceAndTag = nameNonceAndTag
        self.alwaysNameNonceAndTag = alwaysNameNonceAndTag
    }
}

/// An item's row without its ciphertexts: the input of its digest (contract, S2).
package struct ItemRowSummary: Hashable, Sendable {
    package var id: RowID
    package var directory: RowID
    package var version: Int64
    package var protection: ProtectionClass
    package var generation: Int64
    package var tag: [UInt8]
    package var alwaysTag: [UInt8]?
    package var ephemeral: [UInt8]?
    package var mac: [UInt8]?
    package var metadataNonceAndTag: NonceAndTag
    package var secretNoncesAndTags: [NonceAndTag]

    package init(
        id: RowID, directory: RowID, version: Int64, protection: ProtectionClass, generation: Int64, tag: [UInt8],
        alwaysTag: [UInt8]?, ephemeral: [UInt8]?, mac: [UInt8]?, metadataNonceAndTag: NonceAndTag,
        secretNoncesAndTags: [NonceAndTag]
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
        self.metadataNonceAndTag = metadataNonceAndTag
        self.secretNoncesAndTags = secretNoncesAndTags
    }
}

extension DirectoryRecord {
    package var summary: DirectoryRowSummary {
        DirectoryRowSummary(
            id: id, parent: parent, version: version, generation: generation, tag: tag, alwaysTag: alwaysTag,
            nameNonceAndTag: name.nonceAndTag, alwaysNameNonceAndTag: alwaysName?.nonceAndTag)
    }
}

extension ItemRecord {
    package var summary: ItemRowSummary {
        ItemRowSummary(
            id: id, directory: directory, version: version, protection: protection, generation: generation, tag: tag,
            alwaysTag: alwaysTag, ephemeral: ephemeral, mac: mac, metadataNonceAndTag: metadata.nonceAndTag,
            secretNoncesAndTags: secretNoncesAndTags)
    }
}
