/// Gives separate names to rows that share a name. This happens if an index misses a row when a second row of its name is added.
extension Transaction {
    /// Rebuilds every index, after rows that share a name got separate names.
    func rebuildIndexes() throws(KeychainFault) -> IndexRepair.Outcome {
        var outcome = IndexRepair.Outcome()
        try writer.rebuildIndexes { (_) throws(KeychainFault) in
            // From the top: a container that is merged moves its services.
            for step in [separateGroups, mergeContainers, separateServices] {
                for rows in try writer.rowsOfSharedTags(.directory) {
                    outcome.renamedDirectories += try step(try sharing(rows))
                }
            }
            for rows in try writer.rowsOfSharedTags(.item) {
                outcome.renamedItems += try separateItems(rows)
            }
        }
        return outcome
    }

    // MARK: Items

    /// Renames all but one of these items.
    ///
    /// - Returns: The number of renamed items.
    private func separateItems(_ rows: [RowID]) throws(KeychainFault) -> Int {
        let items = try readable(rows) { (row) throws(KeychainFault) in try item(id: row) }
        let last = items.max { $0.modificationDate < $1.modificationDate }
        // A row that cannot be opened cannot be renamed either.
        let others = items.filter { items.count < rows.count || $0.id != last?.id }
        for other in others { try giveFreeName(to: other) }
        return others.count
    }

    private func giveFreeName(to item: Item) throws(KeychainFault) {
        guard let old = try writer.item(id: item.id) else { throw .itemNotFound }
        var item = item
        item.account = try freeName(after: item.account) { (account) throws(KeychainFault) in
            let tag = try keychain.keys.itemTag(directory: item.directory, account: account)
            return try writer.item(tag: tag, always: false) == nil
        }
        item.version += 1
        _ = try put(item, keepingSecretOf: old)
    }

    // MARK: Directories

    /// Directories that share a name.
    private struct Namesakes {
        /// The row that keeps the name: the directory that was changed last, or a row that cannot be opened and so cannot be renamed.
        let first: RowID
        let others: [Directory]
    }

    private func sharing(_ rows: [RowID]) throws(KeychainFault) -> Namesakes {
        let found = try readable(rows) { (row) throws(KeychainFault) in try directory(id: row) }
        let unreadable = rows.first { row in !found.contains { $0.id == row } }
        let first = unreadable ?? found.max { $0.changeDate < $1.changeDate }?.id ?? .none
        return Namesakes(first: first, others: found.filter { $0.id != first })
    }

    private func separateGroups(_ names: Namesakes) throws(KeychainFault) -> Int {
        var count = 0
        for group in names.others {
            guard case .group(let name) = group.key else { continue }
            let free = try freeName(after: .data(name)) { (name) throws(KeychainFault) in
                let tag = try keychain.keys.directoryTag(DirectoryName(.group(name.bytes ?? [])), in: .none)
                return try writer.directory(tag: tag, always: false) == nil
            }
            try renameGroup(group.id, to: free.bytes ?? [])
            count += 1
        }
        return count
    }

    /// Two containers of one class cannot have separate names: moves the directories of the others to the first, and deletes their rows.
    private func mergeContainers(_ names: Namesakes) throws(KeychainFault) -> Int {
        for container in names.others {
            guard case .container = container.key else { continue }
            while try moveDirectories(of: container.id, to: names.first) {}
            keychain.forgetContainerKey(container.id)
            try writer.deleteDirectory(container.id)
        }
        return 0
    }

    /// Moves a page of directories: without an index each search reads the whole table.
    ///
    /// - Returns: Whether there were any.
    private func moveDirectories(of old: RowID, to new: RowID) throws(KeychainFault) -> Bool {
        let records = try writer.directories(parent: old, after: .none, limit: 256)
        for record in records {
            var service = try keychain.directoryEnvelope.open(record)
            service.parent = new
            _ = try save(service)
        }
        return !records.isEmpty
    }

    private func separateServices(_ names: Namesakes) throws(KeychainFault) -> Int {
        var count = 0
        for var directory in names.others {
            guard case .service(let service) = directory.key else { continue }
            let part: AttributeKey = service.itemClass == .genericPassword ? .service : .server
            let name = try freeName(after: service[part] ?? .text([])) { (name) throws(KeychainFault) in
                let other = DirectoryName(.service(service.setting(part, to: name)))
                let tag = try keychain.keys.directoryTag(other, in: directory.parent)
                return try writer.directory(tag: tag, always: false) == nil
            }
            directory.key = .service(service.setting(part, to: name))
            _ = try save(directory)
            count += 1
        }
        return count
    }

    // MARK: Both

    /// Reads rows; leaves out damaged rows and rows that cannot be opened on this device.
    private func readable<Value>(
        _ rows: [RowID], _ read: (RowID) throws(KeychainFault) -> Value?
    ) throws(KeychainFault) -> [Value] {
        var found: [Value] = []
        for row in rows {
            let value = try unlessUnreadable { () throws(KeychainFault) in try read(row) }
            if let value { found.append(value) }
        }
        return found
    }

    /// Returns the first free name of `name~2`, `name~3`, …
    private func freeName(
        after name: AttributeValue, _ isFree: (AttributeValue) throws(KeychainFault) -> Bool
    ) throws(KeychainFault) -> AttributeValue {
        for number in 2... {
            let bytes = (name.bytes ?? []) + Array("~\(number)".utf8)
            let next: AttributeValue = if case .data = name { .data(bytes) } else { .text(bytes) }
            if try isFree(next) { return next }
        }
        throw .duplicateItem
    }
}
