import SecretCrypto

/// Seals directories into rows and opens them, with the directory key and, on request, also with the Always keys.
package struct DirectoryEnvelope: Sendable {
    /// The only generation of directory keys, which are as permanent as the lookup key.
    private static let generation: Int64 = 1

    package let ring: KeyRing

    package init(ring: KeyRing) {
        self.ring = ring
    }

    /// Seals a directory.
    ///
    /// - Parameters:
    ///   - container: The container of a service directory; not used for a container.
    ///   - alsoAlways: Whether the directory contains an Always item, so that it must be found before the first unlock.
    /// - Throws: `interactionNotAllowed`, `attributesTooLarge`, `allocate`; `param` for a service directory without a
    ///   container or in one of another item class.
    package func seal(
        _ directory: Directory, in container: ContainerKey?, alsoAlways: Bool
    ) throws(KeychainFault) -> DirectoryRecord {
        let tag = try tag(of: directory.key, in: container, always: false)
        let name = try seal(directory, .directoryName, tag: tag, key: ring.masterKeys().directory)
        var record = DirectoryRecord(
            id: directory.id, parent: directory.parent, version: directory.version, generation: Self.generation,
            tag: tag, alwaysTag: nil, name: name, alwaysName: nil)
        guard alsoAlways else { return record }
        let alwaysTag = try self.tag(of: directory.key, in: container, always: true)
        record.alwaysTag = alwaysTag
        record.alwaysName = try seal(
            directory, .directoryAlwaysName, tag: alwaysTag, key: ring.alwaysKeys().secret)
        return record
    }

    /// Opens a row with the directory key; before the first unlock with the Always keys, if the row has such a name.
    package func open(_ record: DirectoryRecord) throws(KeychainFault) -> Directory {
        guard record.id < .limit, record.generation == Self.generation,
            (record.alwaysTag == nil) == (record.alwaysName == nil)
        else { throw .decode }
        if ring.state.isAfterFirstUnlock {
            return try open(record, record.name, .directoryName, tag: record.tag, key: ring.masterKeys().directory)
        }
        guard let name = record.alwaysName, let tag = record.alwaysTag else { throw .interactionNotAllowed }
        return try open(record, name, .directoryAlwaysName, tag: tag, key: ring.alwaysKeys().secret)
    }

    /// Opens a row with the Always keys alone, for a row whose other name is damaged.
    ///
    /// - Throws: `decode` if the row has no such name.
    package func openAlways(_ record: DirectoryRecord) throws(KeychainFault) -> Directory {
        guard let name = record.alwaysName, let tag = record.alwaysTag, record.generation == Self.generation else {
            throw .decode
        }
        return try open(record, name, .directoryAlwaysName, tag: tag, key: ring.alwaysKeys().secret)
    }

    /// Verifies the part of a row that ``open(_:)`` does not use: after the first unlock, the name under the Always
    /// keys.
    package func verify(_ record: DirectoryRecord) throws(KeychainFault) {
        let directory = try open(record)
        guard ring.state.isAfterFirstUnlock, let name = record.alwaysName, let tag = record.alwaysTag else { return }
        // Damaged keys are not a fault of the directories.
        guard let keys = try? ring.alwaysKeys() else { return }
        let always = try open(record, name, .directoryAlwaysName, tag: tag, key: keys.secret)
        guard always == directory else { throw .decode }
    }

    private func tag(
        of key: Directory.Key, in container: ContainerKey?, always: Bool
    ) throws(KeychainFault) -> [UInt8] {
        switch key {
        case .container(let key): return try ring.containerTag(key, always: always)
        case .group(let name): return try ring.groupTag(CanonicalName(accessGroup: name), always: always)
        case .service(let service):
            guard let container, container.itemClass == service.itemClass else { throw .param }
            return try ring.directoryTag(service, in: container, always: always)
        }
    }

    private func bound(
        _ field: SealedField, id: RowID, parent: RowID, version: Int64, tag: [UInt8]
    ) -> AssociatedData {
        AssociatedData(field, store: ring.storeID)
            .adding(id.rawValue, parent.rawValue, Self.generation, version).adding(part: tag)
    }

    private func seal(
        _ directory: Directory, _ field: SealedField, tag: [UInt8], key: RevocableSecret
    ) throws(KeychainFault) -> Sealed {
        let bound = bound(
            field, id: directory.id, parent: directory.parent, version: directory.version, tag: tag)
        let plaintext = try DirectoryCodec.encode(directory)
        return try key.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
    }

    private func open(
        _ record: DirectoryRecord, _ name: Sealed, _ field: SealedField, tag: [UInt8], key: RevocableSecret
    ) throws(KeychainFault) -> Directory {
        let bound = bound(field, id: record.id, parent: record.parent, version: record.version, tag: tag)
        let plaintext = try key.using { (key) throws(CryptoError) in
            try name.openPadded(key: key, bound: bound)
        }
        return try DirectoryCodec.decode(
            plaintext.bytes, id: record.id, parent: record.parent, version: record.version)
    }
}
