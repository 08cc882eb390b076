/// The state of each single row of a store, including rows in no listing.
///
/// Requires that the keychain is unlocked. Only a row that is provably not authentic counts as damaged; a disk error
/// ends the inspection.
struct RowInspection {
    /// A directory's row that contains its key.
    struct Row {
        let record: DirectoryRecord
        let directory: Directory
        /// Whether the complete row is authentic; otherwise only one of its two names is.
        let isComplete: Bool
    }

    /// The valid range of row numbers.
    static let ids = RowID(rawValue: 1)..<RowID.limit
    private static let pageSize = 256

    private(set) var directories: [RowID: Row] = [:]
    private(set) var damagedDirectories: [RowID] = []
    /// The items that are authentic, and those that cannot be opened now.
    private(set) var items: [RowID] = []
    private(set) var damagedItems: [RowID] = []
    /// The rows of item keys of ``items``, as their fields determine them.
    private(set) var itemKeys: [RowID: [ItemKeyRecord]] = [:]
    /// The number of ``items`` whose rows of item keys are other ones, and of such rows without an item.
    private(set) var wrongItemKeys = 0
    /// The containers of certificates and keys, as the fields of the items in them show.
    private(set) var lostScopes: [RowID: UnsupportedScope] = [:]
    /// The past values that are authentic, as far as their keys are available.
    private(set) var pastValues: [RowID] = []
    private(set) var damagedPast: [RowID] = []
    /// The highest time at which a value became past.
    private(set) var storeTime: Int64 = 0
    /// The number of ``items`` whose keys are another device's or require a passphrase slot, so that they cannot be
    /// verified.
    private(set) var unverifiedItems = 0
    /// The number of ``items`` per directory.
    private(set) var population: [RowID: Int] = [:]
    /// Directories of Always items.
    private(set) var alwaysDirectories: Set<RowID> = []
    /// The number of rows of keys that are malformed or replace another one.
    private(set) var damagedKeys = 0
    /// The number of rows of all tables, in any state.
    private(set) var rowCount: Int64 = 0
    /// The lowest number that no row has had, as far as the store shows.
    let nextRow: RowID

    private let keys: KeyRing

    init(_ reader: any RecordReader, keys: KeyRing, header: StoreHeader?) throws(KeychainFault) {
        self.keys = keys
        nextRow = try reader.firstUnusedRowID(from: header?.nextRow ?? .first)
        damagedKeys = try reader.damagedKeys().total
        rowCount += Int64(try reader.keyRowCount() + damagedKeys)
        damagedKeys += keys.mismatchedKeys.count
        try surveyDirectories(reader)
        var storedKeys = try storedItemKeys(reader)
        try surveyItems(reader, &storedKeys)
        wrongItemKeys += storedKeys.count
        try surveyPast(reader)
    }

    // MARK: Directories

    private mutating func surveyDirectories(_ reader: any RecordReader) throws(KeychainFault) {
        let envelope = DirectoryEnvelope(ring: keys)
        try Self.forEachRow({ (after, limit) throws(KeychainFault) in
            try reader.directoryIDs(after: after, limit: limit)
        }) { (id) throws(KeychainFault) in
            rowCount += 1
            if let row = try Self.row(id, reader, envelope) {
                directories[id] = row
            } else {
                damagedDirectories.append(id)
            }
        }
    }

    /// Calls `body` with the rows of all pages.
    private static func forEachRow(
        _ page: (_ after: RowID, _ limit: Int) throws(KeychainFault) -> [RowID],
        _ body: (RowID) throws(KeychainFault) -> Void
    ) throws(KeychainFault) {
        var after = RowID(rawValue: .min)
        while true {
            let rows = try page(after, pageSize)
            for row in rows { try body(row) }
            guard rows.count == pageSize, let last = rows.last else { return }
            after = last
        }
    }

    private static func row(
        _ id: RowID, _ reader: any RecordReader, _ envelope: DirectoryEnvelope
    ) throws(KeychainFault) -> Row? {
        guard ids.contains(id) else { return nil }
        return try nilIfDamaged { () throws(KeychainFault) in
            guard let record = try reader.directory(id: id) else { throw .decode }
            if let directory = try nilIfDamaged({ () throws(KeychainFault) in try envelope.open(record) }) {
                let isComplete = try nilIfDamaged { () throws(KeychainFault) in try envelope.verify(record) } != nil
                return Row(record: record, directory: directory, isComplete: isComplete)
            }
            return Row(record: record, directory: try envelope.openAlways(record), isComplete: false)
        }
    }

    // MARK: Items

    private mutating func surveyItems(
        _ reader: any RecordReader, _ storedKeys: inout [RowID: [ItemKeyRecord]]
    ) throws(KeychainFault) {
        try Self.forEachRow({ (after, limit) throws(KeychainFault) in
            try reader.itemIDs(after: after, limit: limit)
        }) { (id) throws(KeychainFault) in
            rowCount += 1
            try surveyItem(id, reader, storedKeys.removeValue(forKey: id) ?? [])
        }
    }

    private mutating func surveyItem(
        _ id: RowID, _ reader: any RecordReader, _ storedKeys: [ItemKeyRecord]
    ) throws(KeychainFault) {
        do throws(KeychainFault) {
            guard Self.ids.contains(id), let (record, ciphertext) = try reader.itemWithSecret(id: id),
                Self.ids.contains(record.directory)
            else { throw .decode }
            let item = try ItemEnvelope(ring: keys).verify(record, ciphertext: ciphertext)
            if item == nil { try addUnverified(id, reader) }
            if let item, let itemClass = itemClass(of: record.directory) {
                guard itemClass.permits(Set(item.keyFields.keys)) else { throw .decode }
            }
            let expected = try item.map { (item) throws(KeychainFault) in try keys.itemKeys(of: item) } ?? storedKeys
            if !expected.isEmpty { itemKeys[id] = expected }
            if expected != storedKeys { wrongItemKeys += 1 }
            lostScopes[record.directory] = try item?.unsupportedScope() ?? lostScopes[record.directory]
            items.append(id)
            population[record.directory, default: 0] += 1
            if record.alwaysTag != nil { alwaysDirectories.insert(record.directory) }
        } catch {
            guard error == .decode else { throw error }
            damagedItems.append(id)
        }
    }

    /// Counts an item whose number is not verified, because its keys are not available.
    ///
    /// - Throws: `decode` if another row has the number, so that both cannot be kept.
    private mutating func addUnverified(_ id: RowID, _ reader: any RecordReader) throws(KeychainFault) {
        guard try reader.rowCount(id...id) == 1 else { throw .decode }
        unverifiedItems += 1
    }

    /// Returns the item class of the container of items in a directory; nil if the container is damaged.
    private func itemClass(of directory: RowID) -> StoredItemClass? {
        guard let directory = directories[directory]?.directory else { return nil }
        switch directory.key {
        case .container(let scope): return StoredItemClass(scope.itemClass)
        case .unsupported(let scope): return scope.itemClass
        case .service: return itemClass(ofContainer: directory.parent)
        case .group: return nil
        }
    }

    private func itemClass(ofContainer container: RowID) -> StoredItemClass? {
        switch directories[container]?.directory.key {
        case .container(let scope): StoredItemClass(scope.itemClass)
        case .unsupported(let scope): scope.itemClass
        case .group, .service, nil: nil
        }
    }

    // MARK: Past values and item keys

    private mutating func surveyPast(_ reader: any RecordReader) throws(KeychainFault) {
        let envelope = PastEnvelope(ring: keys)
        try Self.forEachRow({ (after, limit) throws(KeychainFault) in
            try reader.pastIDs(after: after, limit: limit)
        }) { (id) throws(KeychainFault) in
            rowCount += 1
            if let time = try Self.storeTime(ofPast: id, reader, envelope) {
                pastValues.append(id)
                storeTime = max(storeTime, time)
            } else {
                damagedPast.append(id)
            }
        }
    }

    /// Returns the time at which a value became past; nil if it is not authentic.
    private static func storeTime(
        ofPast id: RowID, _ reader: any RecordReader, _ envelope: PastEnvelope
    ) throws(KeychainFault) -> Int64? {
        guard ids.contains(id) else { return nil }
        return try nilIfDamaged { () throws(KeychainFault) in
            guard let (record, ciphertext) = try reader.pastWithSecret(id: id) else { throw .decode }
            return try envelope.verify(record, ciphertext: ciphertext).info.storeTime
        }
    }

    private mutating func storedItemKeys(_ reader: any RecordReader) throws(KeychainFault) -> [RowID: [ItemKeyRecord]] {
        var found: [RowID: [ItemKeyRecord]] = [:]
        var after: ItemKeyRecord.Position?
        repeat {
            let page = try reader.itemKeys(after: after, limit: Self.pageSize)
            rowCount += Int64(page.records.count + page.malformed)
            wrongItemKeys += page.malformed
            for key in page.records { found[key.position.item, default: []].append(key) }
            after = page.last
        } while after != nil
        return found
    }
}

extension Item {
    /// The container of a certificate or key, as its primary key shows; nil for other items.
    fileprivate func unsupportedScope() throws(KeychainFault) -> UnsupportedScope? {
        guard let primaryKey = keyFields[.primaryKey] else { return nil }
        return UnsupportedScope(try AttributeList.isOfCertificate(primaryKey: primaryKey) ? .certificate : .key)
    }
}
