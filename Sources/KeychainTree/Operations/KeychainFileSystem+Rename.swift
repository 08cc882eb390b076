package import FileSystemCore
import Keychain
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    package func rename(
        _ request: inout Request, parent: NodeID, name: EntryName, newParent: NodeID, newName: EntryName,
        flags: RenameFlags
    ) throws(Errno) {
        defer { stalePages.drain(&request) }
        guard flags.isEmpty || flags == .noReplace || flags == .exchange else { throw .invalidArgument }
        awaitIndexes(request)
        let (from, to) = (CanonicalName(typed: name.bytes), CanonicalName(typed: newName.bytes))
        switch (try node(parent).content, try node(newParent).content) {
        case (.service(let directory), .service(let newDirectory)):
            guard directory.container.itemClass == newDirectory.container.itemClass else { throw .crossDevice }
            try checkWritable()
            // Determined before any lock is acquired: `/proc` may have to wait for a process that waits for a file.
            let process = process(of: request.caller)
            try renameItem(from, in: directory, to: to, in: newDirectory, flags, process)
        case (.folder(.classDirectory(let classDirectory)), .folder(.classDirectory(let newClassDirectory))):
            guard classDirectory.itemClass == newClassDirectory.itemClass else { throw .crossDevice }
            try checkWritable()
            try renameDirectory(from, in: classDirectory, to: to, in: newClassDirectory, flags)
        case (.folder(.groups), .folder(.groups)): try renameGroup(from, to: to, flags)
        default: throw .notPermitted
        }
    }

    // MARK: Items

    private func renameItem(
        _ from: CanonicalName, in directory: ServiceDirectory, to: CanonicalName, in newDirectory: ServiceDirectory,
        _ flags: RenameFlags, _ process: Requester
    ) throws(Errno) {
        let name = try account(to)
        try names.withLock { (_) throws(Errno) in
            if from == to && directory.row == newDirectory.row { return }
            guard let source = try file(named: from, in: directory) else { throw .noSuchFileOrDirectory }
            let target = try file(named: to, in: newDirectory)
            if flags == .exchange {
                guard let target else { throw .noSuchFileOrDirectory }
                return try exchange(source, target)
            }
            if flags == .noReplace, target != nil { throw .fileExists }
            guard target !== source else { return }
            var (left, isReplaced) = (Left?.none, false)
            if let target { isReplaced = try replace(target, with: source, in: newDirectory, process, leaving: &left) }
            if !isReplaced { left = try move(source, to: try uncutKey(name), in: newDirectory, process) }
            remember(left, as: from, in: newDirectory, process)
        }
    }

    private func exchange(_ source: ItemFile, _ target: ItemFile) throws(Errno) {
        try withStates(of: source, target) { (a, b) throws(Errno) in
            defer {
                a.forgetLongAttributes()
                b.forgetLongAttributes()
            }
            try exchange(&a, &b)
        }
    }

    /// Renames a file over another one. Returns false if that has lost its name during the wait for it.
    private func replace(
        _ target: ItemFile, with source: ItemFile, in newDirectory: ServiceDirectory, _ process: Requester,
        leaving left: inout Left?
    ) throws(Errno) -> Bool {
        var hasName = true
        try withStates(of: source, target) { (state, targetState) throws(Errno) in
            hasName = !targetState.isDetached
            guard hasName else { return }
            defer { state.forgetLongAttributes() }
            left = try replace(&targetState, with: source, &state, in: newDirectory, process)
        }
        return hasName
    }

    /// The item that a rename leaves without its old name, and its new position.
    private struct Left {
        let item: Item
        let row: RowID?
    }

    /// Records a name that was freed by a rename within its directory (F5).
    private func remember(
        _ left: Left?, as name: CanonicalName, in newDirectory: ServiceDirectory, _ process: Requester
    ) {
        guard let left, left.item.directory == newDirectory.row else { return }
        freed(name, of: left.item, livingOnAs: left.row, by: process)
    }

    /// Renames a file to a free name, which the same process may have freed.
    private func move(
        _ source: ItemFile, to account: AttributeValue, in newDirectory: ServiceDirectory, _ process: Requester
    ) throws(Errno) -> Left? {
        let freed = reclaimFreedName(CanonicalName(account: account), in: newDirectory.row, by: process.identity)
        do {
            return try withState(of: source) { (state) throws(Errno) in
                defer { state.forgetLongAttributes() }
                return try move(&state, to: account, in: newDirectory, continuing: freed)
            }
        } catch {
            returnFreedName(freed)
            throw error
        }
    }

    /// Returns the file of a name, whether or not the kernel knows it. Does not change its lookup count.
    private func file(named name: CanonicalName, in directory: ServiceDirectory) throws(Errno) -> ItemFile? {
        if let file = try uncommitted(name, in: directory) { return file }
        let item = try mapped { () throws(KeychainFault) in try keychain.item(named: name, in: directory.row) }
        guard let item else { return nil }
        if let file = table.withLock({ $0.item(item.id) }) { return file }
        return ItemFile(
            node: table.withLock { $0.makeID() }, row: item.id, directory: directory, item: item)
    }

    /// Renames a file to a free name. Commits the staged value of the source (F5).
    private func move(
        _ state: inout ItemFile.State, to account: AttributeValue, in newDirectory: ServiceDirectory,
        continuing freed: FreedName?
    ) throws(Errno) -> Left? {
        let left = try move(&state, to: account, continuing: freed) { _ in newDirectory.row }
        state.directory = newDirectory
        return left
    }

    /// Renames a file to a free name in a directory that is found or created in the transaction.
    ///
    /// A file that gets a freed name continues its item, and so does an uncommitted value that this commits.
    private func move(
        _ state: inout ItemFile.State, to account: AttributeValue, continuing freed: FreedName?,
        directory: (Transaction) throws(KeychainFault) -> RowID
    ) throws(Errno) -> Left? {
        let source = try item(of: &state)
        let stagedValue = stagingToCommit(state)
        let (isPending, adopted) = (state.isPending, state.adopted)
        let (own, next) = (inheritance(of: state.freed), inheritance(of: freed))
        let (saved, left) = try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                let left =
                    isPending
                    ? try transaction.succeed(own, with: source)
                    : try transaction.bringing(adopted, to: try transaction.current(source))
                var item = try transaction.succeed(next, with: left)
                (item.directory, item.account) = (try directory(transaction), account)
                let saved = try transaction.save(item, staged: stagedValue)
                try transaction.touchDirectories(source.directory, saved.directory)
                return (saved, left)
            }
        }
        let isRemembered = !isPending || state.freed != nil
        if isPending { state.directory.removePending(CanonicalName(account: source.account), state.row) }
        state.isPending = false
        committed(&state, saved, staged: stagedValue != nil)
        didInherit(own, by: saved.id)
        didInherit(next, by: saved.id)
        // If it continues another item, that item's identity stays, and its own ends.
        let isRetained = saved.persistentReference == left.persistentReference
        return isRemembered ? Left(item: left, row: isRetained ? saved.id : nil) : nil
    }

    /// Renames a file by an attribute. Does not free a name or reuse a freed one (F5).
    func move(
        _ state: inout ItemFile.State, to account: AttributeValue,
        directory: (Transaction) throws(KeychainFault) -> RowID
    ) throws(Errno) {
        _ = try move(&state, to: account, continuing: nil, directory: directory)
    }

    /// Renames a file over an existing item: the file follows POSIX, the item follows the name (F5).
    private func replace(
        _ target: inout ItemFile.State, with file: ItemFile, _ source: inout ItemFile.State,
        in newDirectory: ServiceDirectory, _ process: Requester
    ) throws(Errno) -> Left? {
        let (sourceItem, targetItem) = (try item(of: &source), try item(of: &target))
        guard !target.isPending else {
            // The target name was never committed, so there is no item to follow. It is removed only after the rename.
            let freed = target.freed.flatMap { $0.process == process.identity ? $0 : nil }
            let left = try move(&source, to: targetItem.account, in: newDirectory, continuing: freed)
            _ = detachPending(&target)
            return left
        }
        let stagedValue = stagingToCommit(source)
        let (isPending, adopted, oldRow, newRow) = (source.isPending, source.adopted, source.row, target.row)
        // The item that it would continue is the replaced item, which stays with the name.
        let own = inheritance(of: source.freed.flatMap { $0.former.row == newRow ? nil : $0 })
        let targetValue = try detachable(&target, by: process.caller.userID)
        let inherits = options.mayRead(targetItem.file, process.caller)
        let (saved, left) = try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                let from =
                    isPending
                    ? try transaction.succeed(own, with: sourceItem)
                    : try transaction.bringing(adopted, to: try transaction.current(sourceItem))
                let saved = try transaction.replace(
                    targetItem, inheriting: inherits, with: from, isStored: !isPending, staged: stagedValue)
                try transaction.touchDirectories(from.directory, newDirectory.row)
                return (saved, from)
            }
        }
        let isRemembered = !isPending || source.freed != nil
        if isPending { source.directory.removePending(CanonicalName(account: sourceItem.account), oldRow) }
        detach(&target, keeping: targetValue)
        (source.row, source.directory, source.isPending) = (newRow, newDirectory, false)
        table.withLock { $0.rebind(file, from: oldRow, to: newRow) }
        committed(&source, saved, staged: stagedValue != nil)
        didInherit(own, by: saved.id)
        return isRemembered ? Left(item: left, row: nil) : nil
    }

    /// RENAME_EXCHANGE: exchanges the names and nothing else.
    private func exchange(_ a: inout ItemFile.State, _ b: inout ItemFile.State) throws(Errno) {
        for isFirst in [true, false] {
            let isPending = isFirst ? a.isPending : b.isPending
            guard isPending else { continue }
            if isFirst { try commit(&a) } else { try commit(&b) }
        }
        let (rowA, rowB) = (a.row, b.row)
        let newItems = [(rowA, a.adopted), (rowB, b.adopted)]
        let (itemA, itemB) = (try item(of: &a), try item(of: &b))
        let saved = try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                for (row, newItem) in newItems where newItem != nil {
                    guard let item = try transaction.item(id: row) else { throw .itemNotFound }
                    _ = try transaction.save(try transaction.bringing(newItem, to: item))
                }
                let saved = try transaction.exchange(rowA, rowB)
                try transaction.touchDirectories(itemA.directory, itemB.directory)
                return saved
            }
        }
        (a.adopted, b.adopted) = (nil, nil)
        show(saved.0, &a)
        show(saved.1, &b)
        (a.directory, b.directory) = (b.directory, a.directory)
    }

    /// Returns the staged value that must be committed with a rename; for a pending name always, because it is not in
    /// the store.
    private func stagingToCommit(_ state: borrowing ItemFile.State) -> StagedValue? {
        guard let stagedValue = state.stagedValue, stagedValue.state.isUncommitted else { return nil }
        return state.isPending || stagedValue.state.isWritten ? stagedValue : nil
    }

    // MARK: Directories

    private func renameDirectory(
        _ from: CanonicalName, in classDirectory: ClassDirectory, to: CanonicalName,
        in newClassDirectory: ClassDirectory,
        _ flags: RenameFlags
    ) throws(Errno) {
        let name = try service(to, newClassDirectory.itemClass)
        try names.withLock { (_) throws(Errno) in
            var source = try existingDirectory(from, classDirectory.key)
            try checkAvailable(source.id)
            try checkDefault(of: source, in: newClassDirectory)
            let target = try optional { () throws(Errno) in try existingDirectory(to, newClassDirectory.key) }
            if flags == .exchange {
                guard let target else { throw .noSuchFileOrDirectory }
                try checkAvailable(target.id)
                try checkDefault(of: target, in: classDirectory)
                return try exchangeDirectories(source, target, classDirectory, newClassDirectory)
            }
            guard let target else {
                source.key = .service(try uncutKey(name))
                return try saveRenamed(source, in: newClassDirectory, removing: nil)
            }
            if flags == .noReplace { throw .fileExists }
            guard target.id != source.id else { return }
            try checkEmpty(target.id)
            source.key = target.key
            let known = table.withLock { $0.service(target.id) }
            try removing(known) { () throws(Errno) in
                try saveRenamed(source, in: newClassDirectory, removing: target.id)
            }
        }
    }

    private func saveRenamed(
        _ directory: Directory, in classDirectory: ClassDirectory, removing target: RowID?
    ) throws(Errno) {
        try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                if let target { try transaction.deleteDirectory(target) }
                var moved = directory
                moved.parent = try container(of: classDirectory, transaction).id
                _ = try transaction.save(moved)
                try transaction.touchDirectories(directory.parent, moved.parent)
            }
        }
        table.withLock { $0.service(directory.id) }?.move(to: classDirectory)
    }

    private func exchangeDirectories(
        _ first: Directory, _ second: Directory, _ classDirectory: ClassDirectory, _ newClassDirectory: ClassDirectory
    ) throws(Errno) {
        try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                _ = try transaction.exchangeDirectories(first.id, second.id)
                try transaction.touchDirectories(first.parent, second.parent)
            }
        }
        let (known, other) = table.withLock { ($0.service(first.id), $0.service(second.id)) }
        known?.move(to: newClassDirectory)
        other?.move(to: classDirectory)
    }

    /// Requires that a directory that is renamed while locked has the default class of a new directory there, because
    /// it replaces the default of the target.
    ///
    /// - Throws: ENOKEY.
    private func checkDefault(of directory: Directory, in classDirectory: ClassDirectory) throws(Errno) {
        guard keychain.keys.state != .unlocked else { return }
        let usual = try container(of: classDirectory)?.defaultProtection ?? .whenUnlocked
        guard directory.defaultProtection == usual else { throw .noKey }
    }

    /// Returns the result of `body`; nil if it throws ENOENT.
    func optional<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result? {
        do {
            return try body()
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }
}

extension ListingEntry<Item> {
    /// The row number, available for every entry.
    var id: RowID {
        switch self {
        case .available(let item): item.id
        case .unavailable(let id), .damaged(let id), .foreign(let id): id
        }
    }
}

extension Transaction {
    /// Returns the present item in the store, which may have changed since it was read.
    func current(_ item: Item) throws(KeychainFault) -> Item {
        guard let item = try self.item(id: item.id) else { throw .itemNotFound }
        return item
    }

    /// Saves an item with its staged value, or with its present secret.
    func save(_ item: Item, staged stagedValue: StagedValue?) throws(KeychainFault) -> Item {
        guard let stagedValue else { return try save(item) }
        return try stagedValue.save(item, in: self)
    }

    /// Gives a name the file of another item, and deletes that item's own row.
    ///
    /// - Parameter inherits: Whether a file without listed attributes inherits those of the target.
    func replace(
        _ target: Item, inheriting inherits: Bool, with source: Item, isStored: Bool, staged stagedValue: StagedValue?
    ) throws(KeychainFault) -> Item {
        var item = try current(target).taking(source, sourceDefault: try defaultProtection(source))
        if !inherits {
            (item.attributes, item.extraAttributes) = (source.attributes, source.extraAttributes)
            item.protection = source.protection
        }
        if stagedValue == nil { return try replace(item, secretOf: source.id) }
        if isStored { try deleteItem(source.id) }
        return try save(item, staged: stagedValue)
    }

    func touchDirectories(_ first: RowID, _ second: RowID) throws(KeychainFault) {
        try touchDirectory(first)
        if second != first { try touchDirectory(second) }
    }
}

extension Item {
    /// Returns this item with another one's file: contents, mode, owner, times and inode number are the source's.
    ///
    /// The attributes stay if the source lists none; otherwise the listed ones replace them, the class only if it is
    /// listed. Creation date and persistent reference stay with the name.
    func taking(_ source: Item, sourceDefault: ProtectionClass) -> Item {
        var item = self
        item.file = source.file
        let listsProtection = source.protection != sourceDefault
        guard listsProtection || !source.attributes.isEmpty || !source.extraAttributes.isEmpty else { return item }
        item.attributes = source.attributes
        item.extraAttributes = source.extraAttributes
        if listsProtection { item.protection = source.protection }
        return item
    }
}
