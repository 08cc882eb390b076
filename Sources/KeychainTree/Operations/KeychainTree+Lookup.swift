package import FileSystemCore
import Keychain
import Synchronization
package import SystemPackage

extension KeychainTree {
    package func lookup(
        _ request: inout Request, parent: NodeID, name: EntryName
    ) throws(Errno) -> LookupResult {
        switch try node(parent).content {
        case .root: return lookupInRoot(name)
        case .classDirectory(let key): return try lookupService(name, in: key)
        case .service(let directory): return try lookupItem(name, in: directory)
        case .controlDirectory:
            guard let file = fixed.controlFiles.first(where: { $0.name == name }) else { return absent }
            return .found(entry(ofFixed: file.node))
        case .item, .controlFile: throw .notDirectory
        }
    }

    /// A name that is not there, which the kernel may remember: whatever makes one tells it.
    var absent: LookupResult { .absent(timeout: options.cacheTimeout) }

    private func lookupInRoot(_ name: EntryName) -> LookupResult {
        if name.bytes == FixedNodes.controlName { return .found(entry(ofFixed: fixed.controlDirectory)) }
        guard let entry = fixed.classes.first(where: { $0.name == name }) else { return absent }
        return .found(self.entry(ofFixed: entry.node))
    }

    private func lookupService(_ name: EntryName, in key: ContainerKey) throws(Errno) -> LookupResult {
        let name = CanonicalName(typed: name.bytes)
        _ = try service(name, key)
        let found = try mapped { () throws(KeychainError) in
            try keychain.directory(named: name, in: key)
        }
        guard let found else { return absent }
        return .found(entry(of: found, in: key))
    }

    private func lookupItem(_ name: EntryName, in directory: ServiceDirectory) throws(Errno) -> LookupResult {
        let name = CanonicalName(typed: name.bytes)
        _ = try account(name)
        if let file = directory.pendingFile(name) { return .found(try entry(ofPending: file)) }
        let item: Item?
        do throws(KeychainError) {
            item = try keychain.item(named: name, in: directory.row)
        } catch .interactionNotAllowed {
            return .found(try entry(ofForeign: name, in: directory))
        } catch {
            throw error.errno
        }
        guard let item else { return absent }
        return .found(try entry(of: item, in: directory))
    }

    /// Another device's item, so that it can be unlinked: the kernel asks for the name first (L6). Nothing of it is
    /// remembered, and whatever else asks for its node gets ENOKEY. ENOKEY if it is merely locked.
    private func entry(ofForeign name: CanonicalName, in directory: ServiceDirectory) throws(Errno) -> Entry {
        let row = try mapped { () throws(KeychainError) in
            try keychain.foreignRow(named: name, in: directory.row)
        }
        guard let row else { throw .noKey }
        let file = table.withLock { $0.rememberForeign(row, in: directory) }
        let started = Timestamp(started)
        let attributes = Attributes(
            inode: InodeNumber(rawValue: UInt64(row.rawValue)), type: .regular, permissions: 0, linkCount: 1,
            userID: options.userID, groupID: options.groupID, size: 0, accessTime: started, modificationTime: started,
            changeTime: started)
        return Entry(node: file.node, attributes: attributes, entryTimeout: 0, attributeTimeout: 0)
    }

    // MARK: Names

    /// What a typed account name stands for: EINVAL or EILSEQ if nothing.
    func account(_ name: CanonicalName) throws(Errno) -> ParsedName<AttributeValue> {
        do { return try name.account() } catch { throw error.errno }
    }

    /// What a typed service name stands for: EINVAL or EILSEQ if nothing.
    func service(_ name: CanonicalName, _ key: ContainerKey) throws(Errno) -> ParsedName<ServiceKey> {
        do { return try name.service(in: key.itemClass) } catch { throw error.errno }
    }

    /// The key of a name that is to be made: ENAMETOOLONG for a cut one, whose key nobody knows.
    func whole<Key>(_ name: ParsedName<Key>) throws(Errno) -> Key {
        guard case .key(let key) = name else { throw .fileNameTooLong }
        return key
    }

    // MARK: Entries

    /// Counts a lookup of a fixed node.
    func entry(ofFixed node: Node) -> Entry {
        table.withLock { $0.nodes.remember(node, as: node.id) }
        return entry(node.id, attributes(ofFixed: node), attributeTimeout: options.cacheTimeout)
    }

    /// Counts a lookup of a service directory.
    func entry(of directory: Directory, in key: ContainerKey) -> Entry {
        let service = table.withLock { $0.rememberService(directory.id, in: key) }
        return entry(service.node, attributes(of: directory), attributeTimeout: timeout(of: service))
    }

    /// Counts a lookup of an item that the store has.
    func entry(of item: Item, in directory: ServiceDirectory, keepItem: Bool = true) throws(Errno) -> Entry {
        let file = table.withLock { $0.rememberItem(item, in: directory, keepItem: keepItem) }
        let timed = file.state.withLock { timedAttributes($0, item: $0.item ?? item) }
        return entry(file.node, timed.attributes, attributeTimeout: timed.timeout)
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
            let timed = timedAttributes(state, item: try item(of: &state))
            return Entry(
                node: file.node, attributes: timed.attributes,
                entryTimeout: state.isPending ? 0 : options.cacheTimeout, attributeTimeout: timed.timeout)
        }
    }

    private func entry(_ node: NodeID, _ attributes: Attributes, attributeTimeout: Double) -> Entry {
        Entry(
            node: node, attributes: attributes, entryTimeout: options.cacheTimeout, attributeTimeout: attributeTimeout)
    }
}
