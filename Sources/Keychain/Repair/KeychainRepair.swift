/// Creates an intact keychain from a damaged one. Rows that are not authentic are left out, and nothing is guessed
/// (contract, S4).
///
/// The damaged store is only read and keeps those rows. Requires that the keychain is unlocked.
package struct KeychainRepair: Sendable {
    /// The number of rows of one transaction of the copy.
    private static let pageSize = 256

    private let store: any RecordStore
    let keys: KeyRing

    /// - Parameter keys: The keys of `store`, unlocked.
    package init(of store: any RecordStore, keys: KeyRing) {
        self.store = store
        self.keys = keys
    }

    // MARK: Finding

    /// Inspects every row.
    ///
    /// - Parameters:
    ///   - file: The file attributes of recreated directories, except the inode.
    ///   - now: The dates of recreated directories.
    /// - Throws: `interactionNotAllowed` before the first unlock; the errors of the store.
    package func findings(file: PosixAttributes, now: KeychainDate) throws(KeychainFault) -> RepairFindings {
        guard keys.state == .unlocked else { throw .interactionNotAllowed }
        let digest = try keys.ledger.digest()
        let (inspection, header) = try store.read { (reader) throws(KeychainFault) -> (RowInspection, StoreHeader?) in
            let header = try openedHeader(digest, reader.store())
            return (try RowInspection(reader, keys: keys, header: header), header)
        }
        return RepairFindings(
            inspection: inspection, recovery: DirectoryRecovery(inspection, file: file, now: now),
            header: header,
            rowFault: try rowFault())
    }

    private func openedHeader(_ digest: RowDigest, _ record: StoreRecord) throws(KeychainFault) -> StoreHeader? {
        do throws(KeychainFault) {
            return try digest.header(of: record)
        } catch {
            guard error == .decode else { throw error }
            return nil
        }
    }

    private func rowFault() throws(KeychainFault) -> IntegrityFault? {
        try IntegrityScan(store, ledger: keys.ledger).run()
    }

    // MARK: Writing

    /// Writes the intact rows to an empty store, which is a keychain only after the return.
    ///
    /// Its commit number is higher than any that was seen of the damaged one.
    package func write(_ findings: RepairFindings, to copy: any RecordStore) throws(KeychainFault) {
        let digest = try keys.ledger.digest()
        try store.read { (reader) throws(KeychainFault) in
            let record = try reader.store()
            let header = try numberedHeader(after: findings.header)
            var written = Written()
            try written.add(to: copy, digest) { (writer) throws(KeychainFault) in
                try writer.put(record)
                try copyKeys(from: reader, to: writer, mark: DeviceMark(of: header))
                try putDirectories(findings, to: writer)
            }
            try written.add(findings.inspection.items, to: copy, digest) { (id, writer) throws(KeychainFault) in
                guard let (item, secret) = try reader.itemWithSecret(id: id) else { throw .decode }
                try writer.put(item, secret: secret)
                for key in findings.inspection.itemKeys[id] ?? [] { try writer.put(key) }
            }
            try written.add(findings.inspection.pastValues, to: copy, digest) { (id, writer) throws(KeychainFault) in
                guard let (past, secret) = try reader.pastWithSecret(id: id) else { throw .decode }
                try writer.put(past, secret: secret)
            }
            let sealed = try digest.sealed(complete(header, findings, written), for: record)
            try copy.write { (writer) throws(KeychainFault) in try writer.put(sealed) }
        }
    }

    /// Returns the header of the copy without its sums. It keeps the settings of a header that can be opened.
    private func numberedHeader(after old: StoreHeader?) throws(KeychainFault) -> StoreHeader {
        var header = old ?? StoreHeader()
        header.advance()
        header.commit = try nextCommit(after: old)
        return header
    }

    /// Returns the header of the copy.
    private func complete(
        _ header: StoreHeader, _ findings: RepairFindings, _ written: Written
    ) throws(KeychainFault) -> StoreHeader {
        var header = header
        header.storeTime = max(header.storeTime, findings.header == nil ? findings.inspection.storeTime : 0)
        header.nextRow = findings.recovery.nextRow
        header.sums = written.sums
        header.past.bytes = written.pastBytes
        // A rekey in progress continues, on any device if it is unknown which one ran it.
        if header.rekeyDevice == 0, try keys.masterKeySets().areSeveral { header.rekeyDevice = 1 }
        return header
    }

    private func nextCommit(after header: StoreHeader?) throws(KeychainFault) -> Int64 {
        let last = max(header?.commit ?? 0, keys.keptCommitNumber() ?? 0)
        guard last < Int64.max - 1 else { throw .decode }
        return last + 1
    }

    /// The sums of the rows that were written.
    private struct Written {
        var sums = StoreSums()
        var pastBytes: Int64 = 0

        /// Writes rows in one transaction.
        mutating func add(
            to copy: any RecordStore, _ digest: RowDigest, _ body: (DigestingWriter) throws(KeychainFault) -> Void
        ) throws(KeychainFault) {
            let difference = try copy.write { (writer) throws(KeychainFault) in
                let writer = DigestingWriter(writer, digest: digest)
                try body(writer)
                return writer.difference
            }
            sums += difference.total()
            pastBytes += difference.pastBytes
        }

        /// Writes rows in one transaction for each page.
        mutating func add(
            _ rows: [RowID], to copy: any RecordStore, _ digest: RowDigest,
            _ put: (RowID, DigestingWriter) throws(KeychainFault) -> Void
        ) throws(KeychainFault) {
            var rest = rows[...]
            while !rest.isEmpty {
                try add(to: copy, digest) { (writer) throws(KeychainFault) in
                    for row in rest.prefix(pageSize) { try put(row, writer) }
                }
                rest = rest.dropFirst(pageSize)
            }
        }
    }

    // MARK: Directories

    private func putDirectories(_ findings: RepairFindings, to writer: DigestingWriter) throws(KeychainFault) {
        let recovery = findings.recovery
        let always = alwaysDirectories(findings)
        for (id, directory) in recovery.directories {
            let old = findings.inspection.directories[id]
            if let old, old.isComplete, old.directory == directory, (old.record.alwaysTag != nil) == always.contains(id)
            {
                try writer.put(old.record)
            } else {
                try writer.put(sealed(directory, always.contains(id)))
            }
        }
    }

    private func sealed(
        _ directory: Directory, _ alsoAlways: Bool
    ) throws(KeychainFault) -> DirectoryRecord {
        var directory = directory
        directory.version = directory.version < .max ? directory.version + 1 : directory.version
        let canBeAlways = (try? keys.alwaysKeys()) != nil
        return try DirectoryEnvelope(ring: keys).seal(
            directory, alsoAlways: alsoAlways && canBeAlways)
    }

    /// Returns the directories that contain an Always item, at any depth.
    private func alwaysDirectories(_ findings: RepairFindings) -> Set<RowID> {
        var found: Set<RowID> = []
        for id in findings.inspection.alwaysDirectories {
            var next = id
            while let directory = findings.recovery.directories[next], found.insert(next).inserted {
                next = directory.parent
            }
        }
        return found
    }
}
