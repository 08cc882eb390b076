import SecretCrypto

extension KeychainStore {
    private static let pageSize = 128

    /// Opens every row, decrypts every secret, and compares the rows with the digest. Changes nothing.
    package func check() throws(KeychainFault) -> CheckReport {
        // Otherwise pages that SQLite has cached hide a change by another program.
        try store.findExternalChanges()
        var report = CheckReport()
        report.structureFaults = try store.verifyStructure()
        report.freeBytes = store.freeBytes
        report.damagedKeys =
            try readable { (reader) throws(KeychainFault) in try reader.damagedKeys() } ?? DamagedKeys()
        report.itemsWithKeys = try itemsWithKeys()
        try checkDirectories(in: .none, Place(), 0, &report)
        if keys.state.isAfterFirstUnlock {
            let findings = try verifyNow()
            (report.rowFault, report.indexes) = (findings.rows, findings.indexes)
            report.areRowsVerified = true
        } else {
            report.indexes = try compareIndexes()
        }
        try nameUnlistedRows(&report)
        try nameUnindexedRows(&report)
        try checkPast(&report)
        if report.hasUnreadablePages {
            report.unreadableRows = try unreadableRows(report)
        } else if report.indexes.areConsistent, try countedItems() != report.visitedItems {
            // Or a transaction was committed in the meantime.
            report.structureFaults += max(0, try orphanedItems() - report.unlistedItems)
        }
        return report
    }

    /// Returns the number of items that are in no directory of the tree, in one snapshot.
    private func orphanedItems() throws(KeychainFault) -> Int {
        try readable { (reader) throws(KeychainFault) in
            abs(try reader.itemCount() - Self.countItems(below: .none, 0, reader))
        } ?? 0
    }

    private static func countItems(
        below directory: RowID, _ depth: Int, _ reader: any RecordReader
    ) throws(KeychainFault) -> Int {
        guard depth < 4 else { return 0 }
        var count = 0
        try forEachPage { (after) throws(KeychainFault) in
            let page = try reader.itemIDs(directory: directory, after: after, limit: pageSize)
            count += page.count
            return page
        }
        try forEachPage { (after) throws(KeychainFault) in
            let page = try reader.directoryIDs(parent: directory, after: after, limit: pageSize)
            for child in page { count += try countItems(below: child, depth + 1, reader) }
            return page
        }
        return count
    }

    /// Calls `body` with the last row of each page, starting with the first one, until a page is incomplete.
    private static func forEachPage(_ body: (RowID) throws(KeychainFault) -> [RowID]) throws(KeychainFault) {
        var after = RowID.none
        while true {
            let page = try body(after)
            guard page.count == pageSize, let last = page.last else { return }
            after = last
        }
    }

    /// Returns nil if a page that cannot be read prevents a result.
    private func readable<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result? {
        try nilIfDamaged { () throws(KeychainFault) in try store.read(body) }
    }

    private func unreadableRows(_ report: CheckReport) throws(KeychainFault) -> Int64 {
        guard keys.state.isAfterFirstUnlock else { return 0 }
        let committed = try nilIfDamaged { () throws(KeychainFault) in
            try keys.ledger.read(store) { (_, header) throws(KeychainFault) in header.sums.rows.count }
        }
        return max(0, (committed ?? 0) - Int64(report.visitedRows))
    }

    /// Checks the directories of a parent. Groups have no parent, containers a group or none, services a container;
    /// nothing is deeper, so that a row in a cycle is not followed.
    private func checkDirectories(
        in parent: RowID, _ place: Place, _ depth: Int, _ report: inout CheckReport
    ) throws(KeychainFault) {
        guard depth < 3 else { return }
        var after = RowID.none
        while true {
            guard
                let page = try nilIfDamaged({ () throws(KeychainFault) in
                    try directories(in: parent, after: after, limit: Self.pageSize)
                })
            else { return report.addUnreadable(.directories, in: place.path) }
            report.visitedRows += page.count
            for entry in page { after = try checkDirectory(entry, in: place, depth, &report) }
            guard page.count == Self.pageSize else { return }
        }
    }

    /// Checks a directory. Returns its row.
    private func checkDirectory(
        _ entry: ListingEntry<Directory>, in place: Place, _ depth: Int, _ report: inout CheckReport
    ) throws(KeychainFault) -> RowID {
        switch entry {
        case .damaged(let id):
            report.addDirectory(id, place.path, isNamed: false)
            try checkContents(of: id, place.unknownDirectory, depth + 1, &report)
            return id
        case .unavailable(let id):
            report.unavailable += 1
            try checkContents(of: id, place.unknownDirectory, depth + 1, &report)
            return id
        case .foreign(let id): return id
        case .available(let directory):
            report.directories += 1
            let own = place.directory(directory)
            if try !isConsistent(directory) { report.addDirectory(directory.id, own.path, isNamed: true) }
            try checkContents(of: directory.id, own, depth + 1, &report)
            return directory.id
        }
    }

    private func checkContents(
        of id: RowID, _ place: Place, _ depth: Int, _ report: inout CheckReport
    ) throws(KeychainFault) {
        try checkDirectories(in: id, place, depth, &report)
        try checkItems(in: id, place, &report)
    }

    private func checkItems(in directory: RowID, _ place: Place, _ report: inout CheckReport) throws(KeychainFault) {
        var after = RowID.none
        while true {
            guard
                let page = try nilIfDamaged({ () throws(KeychainFault) in
                    try items(in: directory, after: after, limit: Self.pageSize)
                })
            else { return report.addUnreadable(.items, in: place.path) }
            report.visitedItems += page.count
            report.visitedRows += page.count
            for entry in page {
                switch entry {
                case .damaged(let id):
                    report.addItem(id, place.path, isNamed: false)
                    after = id
                case .unavailable(let id):
                    try checkSealedItem(id, in: place, &report, counted: \.unavailable)
                    after = id
                case .foreign(let id):
                    try checkSealedItem(id, in: place, &report, counted: \.foreign)
                    after = id
                case .available(let item):
                    after = item.id
                    try checkItem(item, in: place, &report)
                }
            }
            guard page.count == Self.pageSize else { return }
        }
    }

    /// Compares the secret of an item whose keys are not available with the hashes in its seals.
    private func checkSealedItem(
        _ id: RowID, in place: Place, _ report: inout CheckReport, counted: WritableKeyPath<CheckReport, Int>
    ) throws(KeychainFault) {
        let isIntact =
            try readable { (reader) throws(KeychainFault) in
                guard let (record, ciphertext) = try reader.itemWithSecret(id: id) else { return }
                try SecretChunks.verify(ciphertext, record.secretSeals)
            } != nil
        if isIntact { report[keyPath: counted] += 1 } else { report.addItem(id, place.path, isNamed: false) }
    }

    private func checkItem(_ item: Item, in place: Place, _ report: inout CheckReport) throws(KeychainFault) {
        report.items += 1
        let name = String(decoding: CanonicalName(account: item.account).bytes, as: UTF8.self)
        if TemporaryFileName.matches(name) { report.leftovers.append(place.path + name) }
        do throws(KeychainFault) {
            try checkKeys(of: item, in: place, report)
            guard let secret = try itemWithSecret(id: item.id)?.secret else { return }
            try secret.verify()
        } catch .decode {
            report.addItem(item.id, place.path + name, isNamed: true)
        }
    }
}

extension KeychainStore {
    /// Whether the row is authentic, including the name that only a mount before its first unlock opens.
    private func isConsistent(_ directory: Directory) throws(KeychainFault) -> Bool {
        try readable { (reader) throws(KeychainFault) in
            guard let record = try reader.directory(id: directory.id) else { return }
            try directoryEnvelope.verify(record)
        } != nil
    }
}

extension Directory {
    /// The directory's component of a path, with a slash.
    var pathComponent: String {
        switch key {
        case .container(let scope):
            (scope.isSynchronizable ? FixedName.synchronizable + "/" : "") + scope.itemClass.folderName + "/"
        case .unsupported(let scope):
            (scope.isSynchronizable ? FixedName.synchronizable + "/" : "") + scope.itemClass.folderName + "/"
        case .group(let name):
            FixedName.accessGroups + "/" + String(decoding: CanonicalName(accessGroup: name).bytes, as: UTF8.self) + "/"
        case .service(let key): String(decoding: CanonicalName(service: key).bytes, as: UTF8.self) + "/"
        }
    }
}

extension ItemClass {
    /// The name of the item class's directory in the tree.
    package var folderName: String {
        switch self {
        case .genericPassword: "generic-passwords"
        case .internetPassword: "internet-passwords"
        }
    }
}

/// The names of temporary files of common editors and tools.
enum TemporaryFileName {
    static func matches(_ name: String) -> Bool {
        let isSwap = name.hasPrefix(".") && [".swp", ".swo", ".swx"].contains { name.hasSuffix($0) }
        let isBackup = name.hasSuffix("~") && name.count > 1
        let isEmacs = name.hasPrefix("#") && name.hasSuffix("#") && name.count > 1
        let isNano = name.hasPrefix(".") && name.hasSuffix(".save")
        return isSwap || isBackup || isEmacs || isNano || name == "4913"
    }
}
