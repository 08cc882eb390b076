import SecretCrypto

extension KeychainStore {
    /// Returns the access group with that name, other than the default one; nil if it does not exist.
    package func group(named name: CanonicalName) throws(KeychainFault) -> Directory? {
        try directory(.group(name))
    }
}

extension Transaction {
    /// More containers than a group can have: one per item class, and another for synchronizable items.
    private static let containerLimit = 64
    private static let pageSize = 128

    /// Returns the group with that name. Creates it if necessary, with the attributes `file` except for the inode.
    package func group(_ name: [UInt8], file: PosixAttributes) throws(KeychainFault) -> Directory {
        if let group = try keychain.directory(.group(CanonicalName(accessGroup: name)), writer) { return group }
        return try addDirectory(.group(name), in: .none, file: file)
    }

    /// Removes a group without service directories.
    ///
    /// - Throws: ``KeychainFault/directoryNotEmpty`` if it contains some.
    package func deleteGroup(_ id: RowID) throws(KeychainFault) {
        let containers = try writer.directoryIDs(parent: id, after: .none, limit: Self.containerLimit)
        for container in containers {
            guard try writer.directoryIDs(parent: container, after: .none, limit: 1).isEmpty else {
                throw .directoryNotEmpty
            }
            try deleteDirectory(container)
        }
        try writer.deleteDirectory(id)
    }

    /// Renames a group. The cost depends on the number of its service directories, whose tags include the name, but not
    /// on their items.
    ///
    /// - Throws: ``KeychainFault/duplicateItem`` for a name of another group.
    package func renameGroup(_ id: RowID, to name: [UInt8]) throws(KeychainFault) {
        guard var group = try directory(id: id), case .group = group.key else { throw .itemNotFound }
        group.key = .group(name)
        _ = try save(group)
        for row in try writer.directoryIDs(parent: id, after: .none, limit: Self.containerLimit) {
            guard var container = try directory(id: row), case .container(var key) = container.key else {
                throw .decode
            }
            key.accessGroup = name
            container.key = .container(key)
            keychain.forgetContainerKey(row)
            _ = try save(container)
            try moveDirectories(of: row, to: key)
        }
    }

    /// Exchanges the names of two groups.
    package func exchangeGroups(_ first: RowID, _ second: RowID) throws(KeychainFault) {
        guard case .group(let nameA)? = try directory(id: first)?.key,
            case .group(let nameB)? = try directory(id: second)?.key
        else { throw .itemNotFound }
        // Tags are unique, so one of the two must be renamed first, to an unused name.
        let unusedKey = BLAKE2b.hash(SecureRandom.bytes(32), count: 32).flatMap { byte in
            [NameEncoding.hex(byte >> 4), NameEncoding.hex(byte & 0xF)]
        }
        try renameGroup(first, to: unusedKey)
        try renameGroup(second, to: nameA)
        try renameGroup(first, to: nameB)
    }

    /// Seals the directories of a container for its new key.
    private func moveDirectories(of container: RowID, to key: ContainerKey) throws(KeychainFault) {
        var after = RowID.none
        while true {
            let page = try writer.directories(parent: container, after: after, limit: Self.pageSize)
            for record in page {
                var directory = try keychain.directoryEnvelope.open(record)
                directory.version += 1
                try writer.put(
                    try keychain.directoryEnvelope.seal(directory, in: key, alsoAlways: record.alwaysTag != nil))
            }
            guard let last = page.last else { return }
            after = last.id
        }
    }
}
