extension Transaction {
    package func directory(id: RowID) throws(KeychainFault) -> Directory? {
        try writer.directory(id: id).map { (record) throws(KeychainFault) in
            try keychain.directoryEnvelope.open(record)
        }
    }

    package func directory(
        named name: CanonicalName, in container: ContainerKey
    ) throws(KeychainFault) -> Directory? {
        guard let row = try existing(container)?.id else { return nil }
        return try keychain.directory(.service(name, container.itemClass), in: row, writer)
    }

    private func existing(_ container: ContainerKey) throws(KeychainFault) -> Directory? {
        try container.find { (name, parent) throws(KeychainFault) in try keychain.directory(name, in: parent, writer) }
    }

    /// Returns a container. Creates it and its group if necessary, with the attributes `file` except for the inode.
    package func container(_ key: ContainerKey, file: PosixAttributes) throws(KeychainFault) -> Directory {
        if let container = try existing(key) { return container }
        var parent = RowID.none
        if key.accessGroup != ContainerKey.defaultAccessGroup { parent = try group(key.accessGroup, file: file).id }
        return try addDirectory(.container(key.scope), in: parent, file: file)
    }

    /// Requires that no directory has lost its parent, before a container or a group is created: the lost one may have had
    /// that name, and its entries would be taken for absent. Reads all directories, unless all rows are verified.
    private func checkParents() throws(KeychainFault) {
        guard keychain.keys.verification.integrity != .verified else { return }
        var (known, parents): (Set<RowID>, Set<RowID>) = ([.none], [])
        try writer.forEachReadableDirectory { (row) throws(KeychainFault) in
            known.insert(row.id)
            parents.insert(row.parent)
        }
        guard parents.isSubset(of: known) else { throw .decode }
    }

    /// Adds a directory with its own row.
    ///
    /// - Throws: ``KeychainFault/duplicateItem`` for the key of another directory; `decode` for a container or a group while
    ///   directories lack their parents.
    package func addDirectory(
        _ key: Directory.Key, in parent: RowID, file: PosixAttributes
    ) throws(KeychainFault) -> Directory {
        switch key {
        case .service: break
        case .container, .group, .unsupported: try checkParents()
        }
        let id = try keychain.reserveRowID()
        // A row with an unused number is a damage.
        guard try writer.directory(id: id) == nil else { throw .decode }
        var file = file
        file.inode = UInt64(id.rawValue)
        var directory = Directory(id: id, parent: parent, key: key, creationDate: keychain.now(), file: file)
        directory.defaultProtection = try inheritedProtection(key, in: parent)
        return try save(directory)
    }

    /// Changes a directory. Returns its present state. The cost does not depend on the number of its items.
    package func save(_ directory: Directory) throws(KeychainFault) -> Directory {
        let old = try writer.directory(id: directory.id)
        var directory = directory
        directory.version = (old?.version ?? directory.version) + 1
        directory.changeDate = keychain.now().after(directory.changeDate)
        try checkParent(of: directory)
        let alsoAlways: Bool
        if let old { alsoAlways = old.alwaysTag != nil } else { alsoAlways = try holdsAlways(directory.id) }
        try writer.put(try keychain.directoryEnvelope.seal(directory, alsoAlways: alsoAlways))
        if let old, alsoAlways, old.parent != directory.parent {
            try updateAlwaysNames(of: [directory.parent, old.parent])
        }
        return directory
    }

    /// Requires that a service has a container of its item class: a missing row is a damage.
    private func checkParent(of directory: Directory) throws(KeychainFault) {
        guard case .service(let service) = directory.key else { return }
        let container = try keychain.containerKey(directory.parent, writer)
        guard container?.itemClass == service.itemClass else { throw container == nil ? .decode : .param }
    }

    /// Updates the modification time of a directory to which an entry was added, or from which one was removed.
    package func touchDirectory(_ id: RowID) throws(KeychainFault) {
        guard !writer.hasTouched(id) else { return }
        // The caller has just found an entry in the directory, so a missing row is a damage.
        guard var directory = try directory(id: id) else { throw .decode }
        directory.file.modificationTime = keychain.now()
        _ = try save(directory)
        writer.noteTouched(id)
    }

    /// Removes an empty directory.
    ///
    /// - Throws: ``KeychainFault/directoryNotEmpty`` if it contains items.
    package func deleteDirectory(_ id: RowID) throws(KeychainFault) {
        guard try writer.items(directory: id, after: .none, limit: 1).isEmpty else { throw .directoryNotEmpty }
        try writer.deleteDirectory(id)
    }

    /// Exchanges the keys of two service directories. Returns their present state.
    package func exchangeDirectories(_ first: RowID, _ second: RowID) throws(KeychainFault) -> (Directory, Directory) {
        guard var a = try directory(id: first), var b = try directory(id: second) else { throw .itemNotFound }
        (a.key, b.key) = (b.key, a.key)
        (a.parent, b.parent) = (b.parent, a.parent)
        // Tags are unique, so one of the two must be removed first.
        try writer.deleteDirectory(second)
        let saved = (try save(a), try save(b))
        if a.parent != b.parent { try updateAlwaysNames(of: [a.parent, b.parent]) }
        return saved
    }
}
