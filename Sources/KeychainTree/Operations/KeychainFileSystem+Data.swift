package import FileSystemCore
import Keychain
import Logging
import SecretCrypto
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    // MARK: Reading

    package func read(
        _ request: inout Request, node: NodeID, handle id: HandleID, offset: UInt64, size: Int, owner: LockOwner?,
        body: (inout Request, RawSpan) -> Void
    ) throws(Errno) {
        let offset = Int(clamping: offset)
        let handle = try handle(id)
        if handle.itemFile != nil { recordUse() }
        if owner == nil, let file = handle.itemFile { file.state.withLock { $0.mayHavePages = true } }
        try checkNotClosed(handle)
        switch handle {
        case .directory: throw .isDirectory
        case .control(let handle):
            if options.commandLimit != nil { request.willBlock() }
            let slab = try Self.slab(handle.next(size, limit: options.commandLimit))
            body(&request, slab.bytes)
        case .exchange(let exchange): try read(exchange, size: size, owner: owner, &request, body)
        case .reader(let file, nil, _):
            // No secret to be locked: but after a lock no read answers (L2).
            try file.state.withLock { (state) throws(Errno) in _ = try item(of: &state) }
            let slab = try Self.slab([])
            body(&request, slab.bytes)
        case .reader(_, let secret?, _):
            let slab: SecretBytes = try mapped { () throws(KeychainFault) in try secret.slab(at: offset, size: size) }
            body(&request, slab.bytes)
        case .snapshotReader(_, let snapshot, _):
            let slab: SecretBytes = try mapped { () throws(KeychainFault) in
                try snapshot.contents.slab(at: offset, size: size)
            }
            body(&request, slab.bytes)
        case .writer(let writer):
            guard writer.flags.isReadable else { throw .badFileDescriptor }
            let slab = try readShared(writer, offset: offset, size: size)
            body(&request, slab.bytes)
        }
    }

    /// ENOKEY for a descriptor for reading from before a lock that has closed its file (L2).
    func checkNotClosed(_ handle: Handle) throws(Errno) {
        if handle.isClosedByLock { throw .noKey }
    }

    /// What the writers of an item share, or the committed value if nothing is staged (F3).
    func readShared(_ writer: FileWriter, offset: Int, size: Int) throws(Errno) -> SecretBytes {
        try writer.file.state.withLock { (state) throws(Errno) in
            try checkNotLost(writer, state)
            if let stagedValue = state.stagedValue {
                return try mapped { () throws(KeychainFault) in try stagedValue.read(at: offset, size: size) }
            }
            let secret = try openSecret(&state)
            guard let secret else {
                _ = try item(of: &state)
                return try Self.slab([])
            }
            return try mapped { () throws(KeychainFault) in try secret.slab(at: offset, size: size) }
        }
    }

    static func slab(_ bytes: [UInt8]) throws(Errno) -> SecretBytes {
        do throws(CryptoError) { return try SecretBytes(copying: bytes.rawSpan) } catch {
            throw KeychainFault(error).errno
        }
    }

    // MARK: Changing the length

    /// truncate(2) commits at once: no close follows it. ftruncate(2) is like a write.
    func truncate(
        _ state: inout ItemFile.State, to size: UInt64, _ changes: AttributeChanges, by user: UInt32
    ) throws(Errno) {
        let size = Int(clamping: size)
        recordUse()
        state.cuts += 1
        guard let handle = changes.handle else {
            return try truncateImmediately(&state, to: size, charging: memory.share(of: user))
        }
        let writer = try writer(handle)
        try checkNotLost(writer, state)
        // A refused truncation leaves the whole value.
        let refusal = refusal(to: size)
        let stagedValue = try loadStagedValue(
            &state, upTo: refusal == nil ? size : .max, charging: memory.share(of: writer.user))
        try abandoningOnFailure(stagedValue) { () throws(Errno) in
            if let refusal { throw refusal }
            try mapped { () throws(KeychainFault) in try stagedValue.truncate(to: size) }
        }
        changed(stagedValue, by: changes.lockOwner)
    }

    /// truncate(2): nobody has a descriptor that could drop what is staged or hear of an error later.
    private func truncateImmediately(
        _ state: inout ItemFile.State, to size: Int, charging share: MemoryBudget.Share
    ) throws(Errno) {
        let isShared = state.stagedValue?.state.needsFlush == true
        let stagedValue = try loadStagedValue(&state, upTo: size, charging: share)
        defer { if state.writerCount == 0 { state.stagedValue = nil } }
        do throws(Errno) {
            try resize(stagedValue, to: size)
            changed(stagedValue, by: LockOwner(rawValue: 0))
            try commit(&state)
        } catch {
            // What has failed is not to be committed by a writer's close.
            if !isShared {
                state.stagedValue = nil
                keepOpenValue(&state)
            }
            throw error
        }
    }

    /// Why a value cannot get that length; nil if it can.
    private func refusal(to size: Int) -> Errno? {
        do throws(Errno) {
            try checkLimit(size, 0)
            try checkFreeSpace(for: size)
            return nil
        } catch {
            return error
        }
    }

    private func resize(_ stagedValue: StagedValue, to size: Int) throws(Errno) {
        if let refusal = refusal(to: size) { throw refusal }
        try mapped { () throws(KeychainFault) in try stagedValue.truncate(to: size) }
    }

    /// ENOKEY for a descriptor from before a lock that took away what was staged (L2).
    func checkNotLost(_ writer: FileWriter, _ state: borrowing ItemFile.State) throws(Errno) {
        if writer.discards != state.losses { throw .noKey }
    }

    private func writer(_ id: HandleID) throws(Errno) -> FileWriter {
        guard case .writer(let writer) = try handle(id) else { throw .badFileDescriptor }
        return writer
    }

    /// The value that writers share, made from the first `count` bytes of the committed one if nothing is staged.
    func loadStagedValue(
        _ state: inout ItemFile.State, upTo count: Int = .max, charging share: MemoryBudget.Share
    ) throws(Errno) -> StagedValue {
        if let stagedValue = state.stagedValue {
            return stagedValue
        }
        let item = try item(of: &state)
        let secret = try openSecret(&state)
        let stagedValue = try newStagedValue(for: item, state)
        if let secret {
            try mapped { () throws(KeychainFault) in try stagedValue.load(secret, upTo: count, charging: share) }
        }
        state.stagedValue = stagedValue
        return stagedValue
    }

    func changed(_ stagedValue: StagedValue, by owner: LockOwner) {
        stagedValue.touch(keychain.now())
        stagedValue.note { $0.changed(by: owner) }
    }

    /// A refused write abandons the value, whatever the reason, and close repeats its error (F1): what is staged lacks those
    /// bytes, or is what O_TRUNC has left.
    func abandoningOnFailure<Result: ~Copyable>(
        _ stagedValue: StagedValue?, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        do {
            return try body()
        } catch {
            stagedValue?.note { $0.refused(with: error) }
            throw error
        }
    }

    func checkLimit(_ offset: Int, _ count: Int) throws(Errno) {
        guard offset <= options.valueLimit - count else { throw .fileTooLarge }
    }

    /// Whether a commit of that many bytes would find room: shells lose the error of close, so it has to be told here.
    func checkFreeSpace(for count: Int) throws(Errno) {
        // Shells lose the error of a close: a keychain that takes no commit any more says so at the open.
        guard keychain.isInPlace else { throw KeychainFault.notAvailable.errno }
        guard !freeSpace.isAmple(at: host.uptime) else { return }
        let hasSpace = try keychain.hasSpace(for: count, longest: options.valueLimit) { () throws(Errno) in
            // A file system that cannot say how much room it has may have enough: the commit finds out.
            guard let available = try? host.statistics().availableBytes else { return .max }
            freeSpace.note(available, longest: options.valueLimit, at: host.uptime)
            return available
        }
        guard hasSpace else { throw .noSpace }
    }

    // MARK: Committing

    package func flush(
        _ request: inout Request, node: NodeID, handle id: HandleID, owner: LockOwner
    ) throws(Errno) {
        guard case .writer(let writer) = try handle(id) else { return }
        let caller = request.caller.processID
        awaitIndexes(before: writer.file, request)
        defer { stalePages.drain(&request) }
        try writer.file.state.withLock { (state) throws(Errno) in
            try checkNotLost(writer, state)
            guard let stagedValue = state.stagedValue, stagedValue.state.needsFlush else { return }
            let isDying = host.isDyingOfSignal(caller)
            try decide(stagedValue.note { $0.flush(by: owner, callerIsDying: isDying) }, &state)
        }
    }

    package func fsync(
        _ request: inout Request, node: NodeID, handle id: HandleID, dataOnly: Bool
    ) throws(Errno) {
        defer { stalePages.drain(&request) }
        switch try handle(id) {
        case .control, .exchange, .directory: return
        case .reader(let file, _, _), .snapshotReader(let file, _, _): try sync(file)
        case .writer(let writer):
            awaitIndexes(before: writer.file, request)
            try writer.file.state.withLock { (state) throws(Errno) in try checkNotLost(writer, state) }
            try sync(writer.file)
        }
    }

    private func sync(_ file: ItemFile) throws(Errno) {
        try file.state.withLock { (state) throws(Errno) in
            guard let stagedValue = state.stagedValue else { return }
            try decide(stagedValue.note { $0.sync() }, &state)
        }
    }

    private func decide(_ decision: CommitState.Decision, _ state: inout ItemFile.State) throws(Errno) {
        switch decision {
        case .nothing, .drop: return
        case .fail(let error): throw error
        case .commit: try commit(&state)
        }
    }

    /// Commits what is staged: item, attributes and directory together (F4). A detached file has nothing to commit.
    ///
    /// A new name that an item of the API has come to meanwhile is that item's, if `adopting`; else EEXIST.
    func commit(_ state: inout ItemFile.State, adopting: Bool = true) throws(Errno) {
        guard let stagedValue = state.stagedValue, stagedValue.state.isUncommitted else { return }
        guard !state.isDetached else { return keepStagedInDetachedFile(stagedValue, &state) }
        recordUse()
        do throws(KeychainFault) {
            do throws(KeychainFault) {
                try save(stagedValue, of: &state)
            } catch .duplicateItem where adopting && adoptTaken(&state) {
                try save(stagedValue, of: &state)
            }
        } catch .itemNotFound where !state.isPending {
            // The API has deleted it, and the file is about to hear of it: as what is written to an unlinked one (F6).
            keepStagedInDetachedFile(stagedValue, &state)
        } catch {
            stagedValue.note { $0.commitFailed(with: error.errno) }
            throw error.errno
        }
    }

    /// What is written to a file without a name stays with it, and so do the times that everyone has seen (F6, F8).
    private func keepStagedInDetachedFile(_ stagedValue: StagedValue, _ state: inout ItemFile.State) {
        if var item = state.item {
            item.file.modificationTime = stagedValue.times.modification
            item.modificationDate = max(item.modificationDate, stagedValue.times.change)
            item.secretCount = stagedValue.count
            state.item = item
        }
        stagedValue.note { $0.committed() }
    }

    private func save(_ stagedValue: StagedValue, of state: inout ItemFile.State) throws(KeychainFault) {
        let row = state.row
        let (newItem, adopted) = (state.isPending ? state.item : nil, state.adopted)
        let open = state.item.flatMap { goesOn(state, $0) ? $0 : nil }
        let inheritance = inheritance(of: state.freed)
        let saved = try keychain.change { (transaction) throws(KeychainFault) in
            var item = try transaction.succeed(inheritance, with: try stored(newItem, row, open, transaction))
            item = try transaction.bringing(adopted, to: item)
            let saved = try stagedValue.save(item, in: transaction)
            if newItem != nil { try transaction.touchDirectory(saved.directory) }
            return saved
        }
        committed(&state, saved)
        didInherit(inheritance, by: saved.id)
    }

    /// What the value is committed with: the draft of a new item, or the stored one. One of UnlessOpen cannot be opened
    /// while locked: then the one that the open file knows.
    private func stored(
        _ newItem: Item?, _ row: RowID, _ open: Item?, _ transaction: Transaction
    ) throws(KeychainFault) -> Item {
        if let newItem { return newItem }
        do throws(KeychainFault) {
            guard let item = try transaction.item(id: row) else { throw .itemNotFound }
            return item
        } catch .interactionNotAllowed {
            guard let open else { throw .interactionNotAllowed }
            return try transaction.withStoredVersion(open)
        } catch {
            throw error
        }
    }

    /// The item is in the store as it is now, with what is `staged` or without.
    func committed(_ state: inout ItemFile.State, _ item: Item, staged: Bool = true) {
        if state.isPending {
            state.isPending = false
            state.directory.removePending(CanonicalName(account: item.account), state.row)
        }
        (state.item, state.freed) = (item, nil)
        (state.adopted, state.attributeCharge) = (nil, nil)
        if staged {
            state.openValue = nil
            state.stagedValue?.note { $0.committed() }
        }
        state.keptValue = nil
        keepValue(&state)
        moveStaging(&state)
        keepOpenValue(&state)
        stalePages.add(&state)
    }

    /// What is staged goes under the key of the class that its item has now: a lock takes it away with the item, or leaves
    /// both (L2). What is committed already is staged anew with the next write.
    func moveStaging(_ state: inout ItemFile.State) {
        guard let stagedValue = state.stagedValue, let item = state.item else { return }
        let availability = ProtectionClass.Availability.strictest(of: state.protections(item))
        guard stagedValue.availability != availability else { return }
        guard stagedValue.state.needsFlush else { return state.stagedValue = nil }
        do throws(KeychainFault) {
            try stagedValue.move(to: try stagingKeys.key(for: availability), of: availability)
        } catch {
            // The class is changed all the same; a lock may take away what it would leave.
            log.error("a staged value stays under the key of a former class", metadata: ["errno": "\(error.errno)"])
        }
    }
}
