import SecretCrypto

/// What an item's row binds to its seals: where it is and under which keys.
struct RowAssociatedData {
    let store: [UInt8]
    let id: RowID
    let directory: RowID
    let protection: ProtectionClass
    let generation: Int64

    /// Of the metadata: also the row's version and its tags, so that a row found by another's tag does not open, and the
    /// seals of the contents, so that contents of another copy of the store do not fit.
    func metadata(version: Int64, tag: [UInt8], alwaysTag: [UInt8]?, secretNoncesAndTags: [NonceAndTag])
        -> AssociatedData
    {
        var bound = base(.metadata, version: version)
        bound.append(part: tag)
        bound.append(part: alwaysTag)
        bound.append(noncesAndTags: secretNoncesAndTags)
        return bound
    }

    /// Of the contents: the version at which they were sealed, which the metadata tells. A change of metadata alone
    /// so leaves them as they are, and still no other version's contents fit.
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
