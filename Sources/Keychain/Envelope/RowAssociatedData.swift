import SecretCrypto

/// The associated data of an item's row: its position and its keys.
struct RowAssociatedData {
    let store: [UInt8]
    let id: RowID
    let directory: RowID
    let protection: ProtectionClass
    let generation: Int64

    /// Returns the associated data of the metadata. They also contain the row's version and its tags, so that a row
    /// with another item's tag cannot be opened, and the seals of the secret, so that the secret of another copy of the
    /// store does not match.
    func metadata(version: Int64, tag: [UInt8], alwaysTag: [UInt8]?, secretSeals: ChunkSeals)
        -> AssociatedData
    {
        var bound = base(.metadata, version: version)
        bound.append(part: tag)
        bound.append(part: alwaysTag)
        bound.append(part: secretSeals.bytes)
        return bound
    }

    /// Returns the associated data of the secret. They contain the version at which it was sealed, which is part of the
    /// metadata. A change of the metadata alone therefore leaves the secret unchanged, and the secret of another
    /// version does not match.
    func secret(version: Int64) -> AssociatedData {
        base(.secret, version: version)
    }

    private func base(_ field: SealedField, version: Int64) -> AssociatedData {
        var bound = AssociatedData(field, store: store)
        bound.append(id.rawValue)
        bound.append(directory.rawValue)
        bound.append(Int64(protection.rawValue))
        bound.append(generation)
        bound.append(version)
        return bound
    }
}

extension RowAssociatedData {
    init(_ record: ItemRecord, store: [UInt8]) {
        self.init(
            store: store, id: record.id, directory: record.directory, protection: record.protection,
            generation: record.generation)
    }

    init(_ item: Item, generation: Int64, store: [UInt8]) {
        self.init(
            store: store, id: item.id, directory: item.directory, protection: item.protection,
            generation: generation)
    }
}
