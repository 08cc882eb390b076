import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// Directories of `access-groups/`, which are created, removed and renamed like service directories.
extension KeychainFileSystem {
    func makeGroup(_ name: CanonicalName, _ posixAttributes: PosixAttributes) throws(Errno) -> Entry {
        try checkWritable()
        let key = try uncutKey(group(name))
        let directory = try names.withLock { (_) throws(Errno) in
            try mapped { () throws(KeychainFault) in
                try keychain.change { (transaction) throws(KeychainFault) in
                    try transaction.addDirectory(.group(key), in: .none, file: posixAttributes)
                }
            }
        }
        guard let folder = folder(of: directory) else { throw .ioError }
        return entry(of: folder, directory)
    }

    func removeGroup(_ name: CanonicalName) throws(Errno) {
        try checkWritable()
        try names.withLock { (_) throws(Errno) in
            let group = try existingGroup(name)
            try checkGroupAvailable(group.id)
            try mapped { () throws(KeychainFault) in
                try keychain.change { (transaction) throws(KeychainFault) in try transaction.deleteGroup(group.id) }
            }
            detachGroup(group)
        }
    }

    /// Renames a group atomically. The cost depends on the number of its service directories, whose tags include the
    /// name.
    func renameGroup(_ from: CanonicalName, to: CanonicalName, _ flags: RenameFlags) throws(Errno) {
        let name = try group(to)
        try checkWritable()
        try names.withLock { (_) throws(Errno) in
            let source = try existingGroup(from)
            let target = try optional { () throws(Errno) in try existingGroup(to) }
            guard target?.id != source.id else { return }
            try checkGroupAvailable(source.id)
            if flags == .exchange {
                guard let target else { throw .noSuchFileOrDirectory }
                return try exchangeGroups(source, target)
            }
            guard let target else { return try renameGroup(source.id, to: try uncutKey(name), removing: nil) }
            if flags == .noReplace { throw .fileExists }
            try checkGroupAvailable(target.id)
            try renameGroup(source.id, to: target.key.groupName, removing: target)
        }
    }

    private func renameGroup(_ source: RowID, to name: [UInt8], removing target: Directory?) throws(Errno) {
        try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                if let target { try transaction.deleteGroup(target.id) }
                try transaction.renameGroup(source, to: name)
            }
        }
        if let target { detachGroup(target) }
        table.withLock { $0.renameGroup(source, to: name) }
    }

    private func detachGroup(_ group: Directory) {
        let (last, now) = (attributes(of: group), Timestamp(keychain.now()))
        table.withLock { table in
            table.group(group.id)?.removedAttributes.keep(last, at: now)
            table.detachDirectory(group.id)
        }
    }

    private func exchangeGroups(_ first: Directory, _ second: Directory) throws(Errno) {
        try checkGroupAvailable(second.id)
        try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                try transaction.exchangeGroups(first.id, second.id)
            }
        }
        table.withLock { table in
            table.renameGroup(first.id, to: second.key.groupName)
            table.renameGroup(second.id, to: first.key.groupName)
        }
    }

    private func existingGroup(_ name: CanonicalName) throws(Errno) -> Directory {
        _ = try group(name)
        let found = try mapped { () throws(KeychainFault) in try keychain.group(named: name) }
        guard let found else { throw .noSuchFileOrDirectory }
        return found
    }

    /// Requires that the items of a group are available (L1).
    ///
    /// - Throws: ENOKEY.
    private func checkGroupAvailable(_ group: RowID) throws(Errno) {
        guard keychain.keys.mayLackKeys else { return }
        try forEachDirectory(in: group) { container throws(Errno) in
            try forEachDirectory(in: container.id) { service throws(Errno) in
                try checkAvailable(service.id)
                return true
            }
        }
    }
}

extension Directory.Key {
    fileprivate var groupName: [UInt8] {
        if case .group(let name) = self { name } else { [] }
    }
}
