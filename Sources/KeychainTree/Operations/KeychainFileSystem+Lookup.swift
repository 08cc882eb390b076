package import FileSystemCore
import Keychain
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    package func lookup(
        _ request: inout Request, parent: NodeID, name: EntryName
    ) throws(Errno) -> LookupResult {
        try lookingUp(request) { () throws(Errno) in try lookup(name, in: parent) }
    }

    private func lookup(_ name: EntryName, in parent: NodeID) throws(Errno) -> LookupResult {
        switch try node(parent).content {
        case .folder(let folder): return try lookup(name, in: folder)
        case .service(let directory): return try lookupItem(name, in: directory)
        case .controlDirectory:
            guard let file = fixed.controlFiles.first(where: { $0.name == name }) else { return absent }
            return .found(entry(ofFixed: file.node))
        case .item, .controlFile: throw .notDirectory
        }
    }

    /// A name that is not there, which the kernel may remember: whatever makes one tells it.
    var absent: LookupResult { .absent(timeout: options.cacheTimeout) }

    private func lookup(_ name: EntryName, in folder: ScopeDirectory) throws(Errno) -> LookupResult {
        switch folder {
        case .classDirectory(let classDirectory): return try lookupService(name, in: classDirectory)
        case .groups: return try lookupGroup(name)
        case .scope:
            if folder.isRoot, name.bytes == FixedNodes.controlName {
                return .found(entry(ofFixed: fixed.controlDirectory))
            }
            guard let child = folder.children.first(where: { $0.name == name }) else { return absent }
            return .found(try entry(of: child.folder))
        }
    }

    private func lookupService(_ name: EntryName, in classDirectory: ClassDirectory) throws(Errno) -> LookupResult {
        let name = CanonicalName(typed: name.bytes)
        _ = try service(name, classDirectory.itemClass)
        guard let found = try stable(classDirectory, { key throws(Errno) in try directory(name, key) }) else {
            return absent
        }
        return .found(entry(of: found, in: classDirectory))
    }

    private func lookupGroup(_ name: EntryName) throws(Errno) -> LookupResult {
        let name = CanonicalName(typed: name.bytes)
        _ = try group(name)
        let found = try mapped { () throws(KeychainFault) in try keychain.group(named: name) }
        guard let found, let folder = folder(of: found) else { return absent }
        return .found(entry(of: folder, found))
    }

    /// What is found under the key of a class directory.
    ///
    /// The kernel keeps a name from being asked for while its directory is changed, but not while a group above that is
    /// renamed: what is not found meanwhile is looked for again, after the rename.
    func stable<Found>(
        _ classDirectory: ClassDirectory, _ find: (ContainerKey) throws(Errno) -> Found?
    ) throws(Errno) -> Found? {
        if let found = try find(classDirectory.key) { return found }
        guard classDirectory.group.row != .none else { return nil }
        return try names.withLock { (_) throws(Errno) in try find(classDirectory.key) }
    }

    private func directory(_ name: CanonicalName, _ key: ContainerKey) throws(Errno) -> Directory? {
        try mapped { () throws(KeychainFault) in try keychain.directory(named: name, in: key) }
    }

    private func lookupItem(_ name: EntryName, in directory: ServiceDirectory) throws(Errno) -> LookupResult {
        let name = CanonicalName(typed: name.bytes)
        _ = try account(name)
        if let file = try uncommitted(name, in: directory) { return .found(try entry(ofPending: file)) }
        let item: Item?
        do throws(KeychainFault) {
            item = try keychain.item(named: name, in: directory.row)
        } catch .interactionNotAllowed {
            return .found(try entry(ofForeign: name, in: directory))
        } catch .decode {
            let row = try mapped { () throws(KeychainFault) in try keychain.row(named: name, in: directory.row) }
            guard let row else { return absent }
            return .found(entry(ofClosed: row, in: directory))
        } catch {
            throw error.errno
        }
        guard let item else { return absent }
        return .found(entry(of: item, in: directory))
    }

    /// The file of a name that is not committed yet; ENOKEY for one whose descriptors alone go on while locked (L1).
    func uncommitted(_ name: CanonicalName, in directory: ServiceDirectory) throws(Errno) -> ItemFile? {
        guard let file = directory.pendingFile(name) else { return nil }
        let item = try file.state.withLock { (state) throws(Errno) -> Item in try self.item(of: &state) }
        guard keychain.keys.isAvailable(item.protection) else { throw .noKey }
        return file
    }

    /// Another device's item, so that it can be unlinked: the kernel asks for the name first (L6). Nothing of it is
    /// remembered, and whatever else asks for its node gets ENOKEY. ENOKEY if it is merely locked.
    private func entry(ofForeign name: CanonicalName, in directory: ServiceDirectory) throws(Errno) -> Entry {
        let row = try mapped { () throws(KeychainFault) in
            try keychain.foreignRow(named: name, in: directory.row)
        }
        guard let row else { throw .noKey }
        return entry(ofClosed: row, in: directory)
    }

    /// An item of which nothing can be said but that it is there: another device's, or a damaged one. `rm` can remove it;
    /// whatever else asks for its node gets ENOKEY or EBADMSG.
    private func entry(ofClosed row: RowID, in directory: ServiceDirectory) -> Entry {
        let known = table.withLock { $0.rememberItem(row, in: directory) }
        let started = Timestamp(started)
        let attributes = Attributes(
            inode: InodeNumber(rawValue: UInt64(row.rawValue)), type: .regular, permissions: 0, linkCount: 1,
            userID: options.userID, groupID: options.groupID, size: 0, accessTime: started, modificationTime: started,
            changeTime: started)
        return Entry(node: known.id, attributes: attributes, entryTimeout: 0, attributeTimeout: 0)
    }

    // MARK: Names

    /// What a typed account name stands for: EINVAL or EILSEQ if nothing.
    func account(_ name: CanonicalName) throws(Errno) -> ParsedName<AttributeValue> {
        do { return try name.account() } catch { throw error.errno }
    }

    /// What a typed service name stands for: EINVAL or EILSEQ if nothing.
    func service(_ name: CanonicalName, _ itemClass: ItemClass) throws(Errno) -> ParsedName<ServiceKey> {
        do { return try name.service(in: itemClass) } catch { throw error.errno }
    }

    /// The access group that a typed name stands for: EINVAL or EILSEQ if none.
    func group(_ name: CanonicalName) throws(Errno) -> ParsedName<[UInt8]> {
        do { return try name.accessGroup() } catch { throw error.errno }
    }

    /// The key of a name that is to be made: ENAMETOOLONG for a cut one, whose key nobody knows.
    func uncutKey<Key>(_ name: ParsedName<Key>) throws(Errno) -> Key {
        guard case .key(let key) = name else { throw .fileNameTooLong }
        return key
    }

    // MARK: Entries

    /// Counts a lookup of a fixed node.
    func entry(ofFixed node: Node) -> Entry {
        table.withLock { $0.remember(node) }
        return entry(node.id, attributes(ofFixed: node), attributeTimeout: options.cacheTimeout)
    }

    /// Counts a lookup of a folder; ENOENT for a group that is gone.
    func entry(of folder: ScopeDirectory) throws(Errno) -> Entry {
        guard let row = folder.groupRow else {
            let attributes = attributes(of: folder)
            let node = table.withLock { $0.rememberFolder(folder) }
            return entry(node.id, attributes, attributeTimeout: options.cacheTimeout)
        }
        return entry(of: folder, try record(row))
    }

    /// Counts a lookup of a group.
    func entry(of folder: ScopeDirectory, _ group: Directory) -> Entry {
        let node = table.withLock { $0.rememberFolder(folder) }
        return entry(node.id, attributes(of: group, folder), attributeTimeout: options.cacheTimeout)
    }

    /// The folder of a group's row.
    func folder(of directory: Directory) -> ScopeDirectory? {
        guard case .group(let name) = directory.key else { return nil }
        let known = table.withLock { $0.group(directory.id) }
        return .scope(known ?? AccessGroup(row: directory.id, name: name), isSynchronizable: false)
    }

    /// Counts a lookup of a service directory.
    func entry(of directory: Directory, in classDirectory: ClassDirectory) -> Entry {
        let service = table.withLock { $0.rememberService(directory.id, in: classDirectory) }
        return entry(service.node, attributes(of: directory), attributeTimeout: timeout(of: service))
    }

    /// Counts a lookup of an item that the store has.
    func entry(of item: Item, in directory: ServiceDirectory) -> Entry {
        let known = table.withLock { $0.rememberItem(item.id, in: directory) }
        guard let file = known.file else {
            return entry(known.id, attributes(of: item), attributeTimeout: options.cacheTimeout)
        }
        let timed = file.state.withLock { state in
            // The kernel did not know the directory when the file was moved there by an attribute.
            if state.directory.row == directory.row { state.directory = directory }
            return timedAttributes(state, item: state.item ?? item)
        }
        return entry(known.id, timed.attributes, attributeTimeout: timed.timeout)
    }

    /// Counts a lookup of an item that a listing has shown before.
    func entry(of listed: ListingCache.Entry, in directory: ServiceDirectory) throws(Errno) -> Entry {
        let known = table.withLock { $0.rememberItem(listed.row, in: directory) }
        guard let file = known.file else {
            return entry(known.id, listed.attributes, attributeTimeout: options.cacheTimeout)
        }
        let timed = try file.state.withLock { (state) throws(Errno) in
            if state.directory.row == directory.row { state.directory = directory }
            guard state.stagedValue != nil || state.isDetached else {
                return TimedAttributes(listed.attributes, timeout: options.cacheTimeout)
            }
            return timedAttributes(state, item: try item(of: &state))
        }
        return entry(known.id, timed.attributes, attributeTimeout: timed.timeout)
    }

    /// Counts a lookup of a name that is not committed yet.
    func entry(ofPending file: ItemFile) throws(Errno) -> Entry {
        let entry = try entry(of: file)
        table.withLock { $0.remember(file) }
        return entry
    }

    /// A file's entry without a lookup of it.
    ///
    /// A name that is not committed may be gone with its last descriptor, which nobody waits for: the kernel is to ask
    /// for it each time.
    func entry(of file: ItemFile) throws(Errno) -> Entry {
        try file.state.withLock { (state) throws(Errno) in
            let item = try item(of: &state)
            return entry(of: file, state, item: item)
        }
    }

    /// The same, of an item that is known.
    func entry(of file: ItemFile, _ state: borrowing ItemFile.State, item: Item) -> Entry {
        let timed = timedAttributes(state, item: item)
        let (isPending, isDetached) = (state.isPending, state.isDetached)
        return Entry(
            node: file.node, attributes: timed.attributes,
            // The name of an item that was added while locked does not answer.
            entryTimeout: isPending || isDetached || !keychain.keys.isAvailable(item.protection)
                ? 0 : options.cacheTimeout,
            attributeTimeout: timed.timeout)
    }

    private func entry(_ node: NodeID, _ attributes: Attributes, attributeTimeout: Double) -> Entry {
        Entry(
            node: node, attributes: attributes, entryTimeout: options.cacheTimeout, attributeTimeout: attributeTimeout)
    }
}
