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

    /// The result for a missing name, which the kernel may cache: creating the name notifies it.
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

    /// Runs `find` with the key of a class directory.
    ///
    /// The kernel does not look up a name while its directory is changed, but it does while a group above it is
    /// renamed. A name that was not found is therefore looked up again after the rename.
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
        if let file = try uncommitted(name, in: directory), let entry = try entry(ofPending: file) {
            return .found(entry)
        }
        let commits = keychain.commitCount
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
        let entry = entry(of: item, readAt: commits, in: directory)
        // It was read before a wait for its file, during which the keychain may have been locked.
        guard keychain.keys.isAvailable(item.protection) else {
            forget(entry.node, count: 1)
            throw .noKey
        }
        return .found(entry)
    }

    /// Returns the file of a pending name; nil also if it was committed or dropped during the wait for it.
    ///
    /// - Throws: ENOKEY for a file that only its descriptors can use while locked (L1).
    func uncommitted(_ name: CanonicalName, in directory: ServiceDirectory) throws(Errno) -> ItemFile? {
        guard let file = directory.pendingFile(name) else { return nil }
        let item = try withState(of: file) { (state) throws(Errno) -> Item? in
            state.isPending ? try self.item(of: &state) : nil
        }
        guard let item else { return nil }
        guard keychain.keys.isAvailable(item.protection) else { throw .noKey }
        return file
    }

    /// Returns an entry for another device's item, so that it can be unlinked: the kernel looks the name up first (L6).
    /// It is not cached, and other operations on its node fail with ENOKEY.
    ///
    /// - Throws: ENOKEY if the item is only locked.
    private func entry(ofForeign name: CanonicalName, in directory: ServiceDirectory) throws(Errno) -> Entry {
        let row = try mapped { () throws(KeychainFault) in
            try keychain.foreignRow(named: name, in: directory.row)
        }
        guard let row else { throw .noKey }
        return entry(ofClosed: row, in: directory)
    }

    /// Returns an entry for an item that cannot be opened: another device's, or a damaged one. `rm` can remove it;
    /// other operations on its node fail with ENOKEY or EBADMSG.
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

    /// Returns the account of a typed name.
    ///
    /// - Throws: EINVAL or EILSEQ if it is not valid.
    func account(_ name: CanonicalName) throws(Errno) -> ParsedName<AttributeValue> {
        do { return try name.account() } catch { throw error.errno }
    }

    /// Returns the service of a typed name.
    ///
    /// - Throws: EINVAL or EILSEQ if it is not valid.
    func service(_ name: CanonicalName, _ itemClass: ItemClass) throws(Errno) -> ParsedName<ServiceKey> {
        do { return try name.service(in: itemClass) } catch { throw error.errno }
    }

    /// Returns the access group of a typed name.
    ///
    /// - Throws: EINVAL or EILSEQ if it is not valid.
    func group(_ name: CanonicalName) throws(Errno) -> ParsedName<[UInt8]> {
        do { return try name.accessGroup() } catch { throw error.errno }
    }

    /// Returns the key of a name to be created.
    ///
    /// - Throws: ENAMETOOLONG for a cut name, whose key is unknown.
    func uncutKey<Key>(_ name: ParsedName<Key>) throws(Errno) -> Key {
        guard case .key(let key) = name else { throw .fileNameTooLong }
        return key
    }

    // MARK: Entries

    /// Returns the entry of a fixed node and increments its lookup count.
    func entry(ofFixed node: Node) -> Entry {
        table.withLock { $0.remember(node) }
        return entry(node.id, attributes(ofFixed: node), attributeTimeout: options.cacheTimeout)
    }

    /// Returns the entry of a scope directory and increments its lookup count.
    ///
    /// - Throws: ENOENT for a group that was removed.
    func entry(of folder: ScopeDirectory) throws(Errno) -> Entry {
        guard let row = folder.groupRow else {
            let attributes = attributes(of: folder)
            let node = table.withLock { $0.rememberFolder(folder) }
            return entry(node.id, attributes, attributeTimeout: options.cacheTimeout)
        }
        return entry(of: folder, try record(row))
    }

    /// Returns the entry of a group and increments its lookup count.
    func entry(of folder: ScopeDirectory, _ group: Directory) -> Entry {
        let node = table.withLock { $0.rememberFolder(folder) }
        return entry(node.id, attributes(of: group, folder), attributeTimeout: options.cacheTimeout)
    }

    /// Returns the scope directory of a group's row.
    func folder(of directory: Directory) -> ScopeDirectory? {
        guard case .group(let name) = directory.key else { return nil }
        let known = table.withLock { $0.group(directory.id) }
        return .scope(known ?? AccessGroup(row: directory.id, name: name), isSynchronizable: false)
    }

    /// Returns the entry of a service directory and increments its lookup count.
    func entry(of directory: Directory, in classDirectory: ClassDirectory) -> Entry {
        let service = table.withLock { $0.rememberService(directory.id, in: classDirectory) }
        return entry(service.node, attributes(of: directory), attributeTimeout: timeout(of: service))
    }

    /// Returns the entry of a stored item and increments its lookup count.
    ///
    /// - Parameter commits: ``KeychainStore/commitCount`` before the item was read.
    func entry(of item: Item, readAt commits: Int, in directory: ServiceDirectory) -> Entry {
        let known = table.withLock { $0.rememberItem(item.id, in: directory) }
        guard let file = known.file else {
            return entry(known.id, attributes(of: item), attributeTimeout: options.cacheTimeout)
        }
        let timed = withState(of: file) { state in
            // The kernel did not know the directory when the file was moved there by setting an attribute.
            if state.directory.row == directory.row { state.directory = directory }
            return presentAttributes(
                state, keychain.commitCount == commits ? item : nil, else: attributes(of: item))
        }
        return entry(known.id, timed.attributes, attributeTimeout: timed.timeout)
    }

    /// Returns the entry of an item in a cached listing and increments its lookup count.
    func entry(of listed: ListingCache.Entry, in directory: ServiceDirectory) throws(Errno) -> Entry {
        let known = table.withLock { $0.rememberItem(listed.row, in: directory) }
        guard let file = known.file else {
            return entry(known.id, listed.attributes, attributeTimeout: options.cacheTimeout)
        }
        let timed = try withState(of: file) { (state) throws(Errno) in
            if state.directory.row == directory.row { state.directory = directory }
            if state.stagedValue != nil || state.isDetached {
                return timedAttributes(state, item: try item(of: &state))
            }
            guard !listings.contains(listed, in: directory.row) else {
                return TimedAttributes(listed.attributes, timeout: options.cacheTimeout)
            }
            return presentAttributes(state, nil, else: listed.attributes)
        }
        return entry(known.id, timed.attributes, attributeTimeout: timed.timeout)
    }

    /// Returns the attributes of an item that was read before its file was locked. Reads it again if it may have been
    /// committed in between (`item` is nil), because the kernel caches the attributes.
    ///
    /// - Parameter former: The attributes of that time, in case that it cannot be read; the kernel does not cache them.
    private func presentAttributes(
        _ state: borrowing ItemFile.State, _ item: Item?, else former: Attributes
    ) -> TimedAttributes {
        let row = state.row
        guard let item = state.item ?? item ?? (try? keychain.item(id: row)) else {
            return TimedAttributes(former, timeout: 0)
        }
        return timedAttributes(state, item: item)
    }

    /// Returns the entry of a file whose name was pending, and increments its lookup count; nil if the name has been
    /// dropped since, or the kernel has forgotten the file after its commit.
    func entry(ofPending file: ItemFile) throws(Errno) -> Entry? {
        // First, because the kernel may forget the file during a wait for it.
        guard table.withLock({ $0.remember(file) }) else { return nil }
        do throws(Errno) {
            let found = try withState(of: file) { (state) throws(Errno) -> Entry? in
                guard !state.isDetached else { return nil }
                let item = try item(of: &state)
                return entry(of: file, state, item: item)
            }
            if found == nil { forget(file.node, count: 1) }
            return found
        } catch {
            forget(file.node, count: 1)
            throw error
        }
    }

    /// Returns the entry of a file with a known item, without changing its lookup count.
    ///
    /// A pending name may be removed with its last descriptor, for which no request waits, so the kernel must look it
    /// up each time.
    func entry(of file: ItemFile, _ state: borrowing ItemFile.State, item: Item) -> Entry {
        let timed = timedAttributes(state, item: item)
        let (isPending, isDetached) = (state.isPending, state.isDetached)
        return Entry(
            node: file.node, attributes: timed.attributes,
            // The name of an item that was added while locked cannot be used.
            entryTimeout: isPending || isDetached || !keychain.keys.isAvailable(item.protection)
                ? 0 : options.cacheTimeout,
            attributeTimeout: timed.timeout)
    }

    private func entry(_ node: NodeID, _ attributes: Attributes, attributeTimeout: Double) -> Entry {
        Entry(
            node: node, attributes: attributes, entryTimeout: options.cacheTimeout, attributeTimeout: attributeTimeout)
    }
}
