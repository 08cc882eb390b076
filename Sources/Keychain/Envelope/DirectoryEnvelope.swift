import SecretCrypto

/// Seals directories into rows and opens them, with the directory key and, on request, also with the Always keys.
package struct DirectoryEnvelope: Sendable {
    package let ring: KeyRing

    package init(ring: KeyRing) {
        self.ring = ring
    }

    /// Seals a directory.
    ///
    /// - Parameters:
    ///   - alsoAlways: Whether the directory contains an Always item, so that it must be found before the first unlock.
    /// - Throws: `interactionNotAllowed`, `attributesTooLarge`, `allocate`.
    package func seal(_ directory: Directory, alsoAlways: Bool) throws(KeychainFault) -> DirectoryRecord {
        let name = DirectoryName(directory.key)
        let tag = try ring.directoryTag(name, in: directory.parent)
        let master = try ring.masterKeys()
        let sealed = try seal(
            directory, key: master.directory,
            bound: Self.nameData(
                directory.id, directory.parent, master.generation, directory.version, tag, store: ring.storeID))
        var record = DirectoryRecord(
            id: directory.id, parent: directory.parent, version: directory.version,
            masterKeyGeneration: master.generation, tag: tag, alwaysTag: nil, name: sealed, alwaysName: nil)
        guard alsoAlways else { return record }
        let alwaysTag = try ring.directoryTag(name, in: directory.parent, always: true)
        record.alwaysTag = alwaysTag
        record.alwaysName = try seal(
            directory, key: ring.alwaysKeys().secret, bound: Self.alwaysNameData(record, alwaysTag, store: ring.storeID)
        )
        return record
    }

    /// Opens a row with the directory key; before the first unlock with the Always keys, if the row has such a name.
    ///
    /// - Throws: `decode` also for a row with the tag of another name or parent: the holder of a former directory key can seal
    ///   that.
    package func open(_ record: DirectoryRecord) throws(KeychainFault) -> Directory {
        guard record.id < .limit, (record.alwaysTag == nil) == (record.alwaysName == nil) else { throw .decode }
        guard ring.state.isAfterFirstUnlock else { return try openAlwaysName(record, without: .interactionNotAllowed) }
        let master = try ring.masterKeys(generation: record.masterKeyGeneration)
        let directory = try open(record, record.name, key: master.directory, bound: nameData(record))
        try verifyTag(of: directory, record)
        return directory
    }

    private func verifyTag(of directory: Directory, _ record: DirectoryRecord) throws(KeychainFault) {
        let tag = try ring.directoryTag(DirectoryName(directory.key), in: record.parent)
        guard tag == record.tag else { throw .decode }
    }

    /// Reseals the name of a row under the newest keys. Its version and the name under the Always keys stay the same.
    ///
    /// - Throws: `decode` if the name is not authentic.
    func renew(_ record: DirectoryRecord) throws(KeychainFault) -> DirectoryRecord {
        let (old, new) = (try ring.masterKeys(generation: record.masterKeyGeneration), try ring.masterKeys())
        let plaintext = try old.directory.using { (key) throws(CryptoError) in
            try record.name.openPadded(key: key, bound: nameData(record))
        }
        let directory = try DirectoryCodec.decode(
            plaintext.bytes, id: record.id, parent: record.parent, version: record.version)
        try verifyTag(of: directory, record)
        var renewed = record
        renewed.masterKeyGeneration = new.generation
        renewed.name = try new.directory.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: nameData(renewed))
        }
        return renewed
    }

    /// Opens a row with the Always keys alone, for a row whose other name is damaged.
    ///
    /// - Throws: `decode` if the row has no such name.
    package func openAlways(_ record: DirectoryRecord) throws(KeychainFault) -> Directory {
        try openAlwaysName(record, without: .decode)
    }

    private func openAlwaysName(
        _ record: DirectoryRecord, without failure: KeychainFault
    ) throws(KeychainFault) -> Directory {
        guard let name = record.alwaysName, let tag = record.alwaysTag else { throw failure }
        let directory = try open(
            record, name, key: ring.alwaysKeys().secret, bound: Self.alwaysNameData(record, tag, store: ring.storeID))
        guard try ring.directoryTag(DirectoryName(directory.key), in: record.parent, always: true) == tag else {
            throw .decode
        }
        return directory
    }

    /// Verifies the part of a row that ``open(_:)`` does not use: after the first unlock, the name under the Always
    /// keys.
    package func verify(_ record: DirectoryRecord) throws(KeychainFault) {
        let directory = try open(record)
        // Damaged keys are not a fault of the directories.
        guard ring.state.isAfterFirstUnlock, record.alwaysName != nil, (try? ring.alwaysKeys()) != nil else { return }
        guard try openAlways(record) == directory else { throw .decode }
    }

    private func nameData(_ record: DirectoryRecord) -> AssociatedData {
        Self.nameData(
            record.id, record.parent, record.masterKeyGeneration, record.version, record.tag, store: ring.storeID)
    }

    static func nameData(
        _ id: RowID, _ parent: RowID, _ generation: Int64, _ version: Int64, _ tag: [UInt8], store: [UInt8]
    ) -> AssociatedData {
        AssociatedData(.directoryName, store: store)
            .adding(id.rawValue, parent.rawValue, generation, version).adding(part: tag)
    }

    static func alwaysNameData(_ record: DirectoryRecord, _ tag: [UInt8], store: [UInt8]) -> AssociatedData {
        AssociatedData(.directoryAlwaysName, store: store)
            .adding(record.id.rawValue, record.parent.rawValue, record.version).adding(part: tag)
    }

    private func seal(
        _ directory: Directory, key: RevocableSecret, bound: AssociatedData
    ) throws(KeychainFault) -> Sealed {
        let plaintext = try DirectoryCodec.encode(directory)
        return try key.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
    }

    private func open(
        _ record: DirectoryRecord, _ name: Sealed, key: RevocableSecret, bound: AssociatedData
    ) throws(KeychainFault) -> Directory {
        let plaintext = try key.using { (key) throws(CryptoError) in
            try name.openPadded(key: key, bound: bound)
        }
        return try DirectoryCodec.decode(
            plaintext.bytes, id: record.id, parent: record.parent, version: record.version)
    }
}
