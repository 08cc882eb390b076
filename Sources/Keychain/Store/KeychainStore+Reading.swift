extension KeychainStore {
    // MARK: Directories

    /// Returns a container; nil if it has not been created yet.
    package func container(_ key: ContainerKey) throws(KeychainFault) -> Directory? {
        try key.find { (name, parent) throws(KeychainFault) in try directory(name, in: parent) }
    }

    /// Returns the service directory with that name in a container.
    package func directory(
        named name: CanonicalName, in container: ContainerKey
    ) throws(KeychainFault) -> Directory? {
        guard let row = try self.container(container)?.id else { return nil }
        return try directory(.service(name, container.itemClass), in: row)
    }

    /// Returns the directory with a name in a parent. Before the first unlock directories are found by their Always tags; one
    /// without may exist nevertheless: `interactionNotAllowed`.
    func directory(_ name: DirectoryName, in parent: RowID) throws(KeychainFault) -> Directory? {
        let always = !keys.state.isAfterFirstUnlock
        let tag = try keys.directoryTag(name, in: parent, always: always)
        if !always, let directory = cache.directory(tag: tag) {
            compareWithStore(directory)
            return directory
        }
        let endings = cache.endings
        let found = try store.read { (reader) throws(KeychainFault) in
            try self.directory(tag: tag, always: always, reader)
        }
        if !always, let found { cache.keep(found, tag: tag, since: endings) { keys.state == .unlocked } }
        guard found != nil || !always else { throw .interactionNotAllowed }
        if found == nil { try checkAbsence() }
        return found
    }

    /// Called after a lookup or listing has found no further row.
    ///
    /// - Throws: `decode` if the indexes are known to miss rows.
    func checkAbsence() throws(KeychainFault) { try keys.ledger.indexes.checkAbsence() }

    /// Whether lookups and listings are known to miss rows.
    package var missesRows: Bool { keys.ledger.indexes.value.missesRows }

    /// Blocks until the state of the indexes is known, for at most a second, or 10 s if they are wrong. Called before a name is
    /// added or a directory is removed, while the caller holds no lock that others need.
    package func awaitIndexes() { keys.verification.awaitIndexes() }

    /// Whether ``awaitIndexes()`` may block.
    package var areIndexesAwaited: Bool { keys.verification.areIndexesAwaited }

    /// Returns the directory with that row number.
    package func directory(id: RowID) throws(KeychainFault) -> Directory? {
        if let directory = cache.directory(id) {
            compareWithStore(directory)
            return directory
        }
        let endings = cache.endings
        let found = try store.read { (reader) throws(KeychainFault) in
            try reader.directory(id: id).map { (record) throws(KeychainFault) in try directoryEnvelope.open(record) }
        }
        if let found { cache.keep(found, since: endings) { keys.state == .unlocked } }
        return found
    }

    /// Returns the directories of a container after `after`, in the order of their rows.
    package func directories(
        in container: RowID, after: RowID, limit: Int
    ) throws(KeychainFault) -> [ListingEntry<Directory>] {
        try store.read { (reader) throws(KeychainFault) in
            do throws(KeychainFault) {
                let records = try reader.directories(parent: container, after: after, limit: limit)
                return try records.map { (record) throws(KeychainFault) in
                    try Self.listed(record.id) { () throws(KeychainFault) in try directoryEnvelope.open(record) }
                }
            } catch .decode {
                let ids = try reader.directoryIDs(parent: container, after: after, limit: limit)
                return try ids.map { (id) throws(KeychainFault) in
                    try Self.listed(id) { () throws(KeychainFault) in
                        guard let record = try reader.directory(id: id), record.parent == container else {
                            throw .decode
                        }
                        return try directoryEnvelope.open(record)
                    }
                }
            }
        }
    }

    // MARK: Items

    /// Returns the item with that name in a service directory.
    package func item(named name: CanonicalName, in directory: RowID) throws(KeychainFault) -> Item? {
        try find(named: name, in: directory) { (record) throws(KeychainFault) in
            try itemEnvelope.open(record, named: name, in: directory)
        }
    }

    /// Returns the row with a name.
    func record(named name: CanonicalName, in directory: RowID) throws(KeychainFault) -> ItemRecord? {
        try find(named: name, in: directory) { (record) in record }
    }

    /// Uses the row with a name, found in the same way as directories, within the read: the end of a rekey removes the keys
    /// of older rows.
    private func find<Result>(
        named name: CanonicalName, in directory: RowID, _ use: (ItemRecord) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result? {
        let always = !keys.state.isAfterFirstUnlock
        let tag = try keys.itemTag(directory: directory, name: name, always: always)
        let found = try store.read { (reader) throws(KeychainFault) in
            try reader.item(tag: tag, always: always).map(use)
        }
        guard found != nil || !always else { throw .interactionNotAllowed }
        if found == nil { try checkAbsence() }
        return found
    }

    /// Returns the item with that row number.
    package func item(id: RowID) throws(KeychainFault) -> Item? {
        try store.read { (reader) throws(KeychainFault) in
            try reader.item(id: id).map { (record) throws(KeychainFault) in try itemEnvelope.open(record) }
        }
    }

    /// Returns the items of a directory after `after`, in the order of their rows.
    package func items(
        in directory: RowID, after: RowID, limit: Int
    ) throws(KeychainFault) -> [ListingEntry<Item>] {
        try store.read { (reader) throws(KeychainFault) in
            do throws(KeychainFault) {
                let records = try reader.items(directory: directory, after: after, limit: limit)
                return try records.map { (record) throws(KeychainFault) in
                    try listed(record)
                }
            } catch .decode {
                // One row of the page cannot be decoded; the others are returned (S4).
                let ids = try reader.itemIDs(directory: directory, after: after, limit: limit)
                return try ids.map { (id) throws(KeychainFault) in
                    do throws(KeychainFault) {
                        guard let record = try reader.item(id: id), record.directory == directory else {
                            return .damaged(id)
                        }
                        return try listed(record)
                    } catch .decode {
                        return .damaged(id)
                    }
                }
            }
        }
    }

    private func listed(_ record: ItemRecord) throws(KeychainFault) -> ListingEntry<Item> {
        if record.protection.isThisDeviceOnly, keys.isForeign(record.protection, generation: record.generation) {
            return .foreign(record.id)
        }
        return try Self.listed(record.id) { () throws(KeychainFault) in try itemEnvelope.open(record) }
    }

    /// Returns the row with a name if only another device can open it (contract, L6).
    package func foreignRow(named name: CanonicalName, in directory: RowID) throws(KeychainFault) -> RowID? {
        guard let record = try record(named: name, in: directory) else { return nil }
        return keys.isForeign(record.protection, generation: record.generation) ? record.id : nil
    }

    /// Returns the row with a name, whether or not it can be opened.
    package func row(named name: CanonicalName, in directory: RowID) throws(KeychainFault) -> RowID? {
        try record(named: name, in: directory)?.id
    }

    /// Whether an item that can be used now is in a directory or below it.
    ///
    /// Reads the row of each item, and opens none.
    package func holdsAvailableItem(_ directory: RowID) throws(KeychainFault) -> Bool {
        try store.read { (reader) throws(KeychainFault) in
            try reader.itemClasses(below: directory)
                .contains { keys.isAvailable($0.protection, generation: $0.generation) }
        }
    }

    /// Returns an item with its sealed secret: one consistent value that later changes do not affect.
    ///
    /// The secret is nil for an item without one.
    package func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: Item, secret: SealedSecret?)? {
        if let value = cache.value(id, keys.isAvailable) {
            compareWithStore(value.item)
            return (value.item, value.secret)
        }
        let endings = cache.endings
        let found = try store.read { (reader) throws(KeychainFault) -> (item: Item, secret: SealedSecret?)? in
            guard let (record, ciphertext) = try reader.itemWithSecret(id: id) else { return nil }
            return try self.itemWithSecret(record, ciphertext: ciphertext)
        }
        guard let found else { return nil }
        cache.keep(ItemCache.Value(item: found.item, secret: found.secret), since: endings, keys.isAvailable)
        return found
    }

    func itemWithSecret(
        _ record: ItemRecord, _ reader: any RecordReader
    ) throws(KeychainFault) -> (item: Item, secret: SealedSecret?) {
        try itemWithSecret(record, ciphertext: try reader.secret(of: record.id))
    }

    private func itemWithSecret(
        _ record: ItemRecord, ciphertext: [UInt8]
    ) throws(KeychainFault) -> (item: Item, secret: SealedSecret?) {
        let item = try itemEnvelope.open(record)
        guard item.secretCount != nil else { return (item, nil) }
        return (item, try itemEnvelope.secret(of: item, record: record, ciphertext: ciphertext))
    }

    func directory(
        _ name: DirectoryName, in parent: RowID, _ reader: any RecordReader
    ) throws(KeychainFault) -> Directory? {
        try directory(tag: keys.directoryTag(name, in: parent), always: false, reader)
    }

    private func directory(
        tag: [UInt8], always: Bool, _ reader: any RecordReader
    ) throws(KeychainFault) -> Directory? {
        try reader.directory(tag: tag, always: always).map { (record) throws(KeychainFault) in
            try directoryEnvelope.open(record)
        }
    }

    /// Returns the entry of a row in a listing: its value, or the reason why the value is not available.
    private static func listed<Value>(
        _ id: RowID, _ open: () throws(KeychainFault) -> Value
    ) throws(KeychainFault) -> ListingEntry<Value> {
        do {
            return .available(try open())
        } catch .interactionNotAllowed {
            return .unavailable(id)
        } catch .decode {
            return .damaged(id)
        }
    }
}
