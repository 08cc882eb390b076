import SecretCrypto

extension KeychainStore {
    /// Returns the access group with that name, other than the default one; nil if it does not exist.
    package func group(named name: CanonicalName) throws(KeychainFault) -> Directory? {
        try directory(.group(name), in: .none)
    }
}

extension Transaction {
    /// More containers than a group can have: one per item class, and another for synchronizable items.
    private static let containerLimit = 64

    /// Returns the group with that name. Creates it if necessary, with the attributes `file` except for the inode.
    package func group(_ name: [UInt8], file: PosixAttributes) throws(KeychainFault) -> Directory {
        let found = try keychain.directory(.group(CanonicalName(accessGroup: name)), in: .none, writer)
        if let found { return found }
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

    /// Renames a group: one row.
    ///
    /// - Throws: ``KeychainFault/duplicateItem`` for a name of another group.
    package func renameGroup(_ id: RowID, to name: [UInt8]) throws(KeychainFault) {
        guard var group = try directory(id: id), case .group = group.key else { throw .itemNotFound }
        group.key = .group(name)
        _ = try save(group)
        keychain.forgetContainerKeys(of: id)
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
}
