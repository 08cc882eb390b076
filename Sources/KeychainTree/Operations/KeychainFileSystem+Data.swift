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
        if owner == nil, let file = handle.itemFile { withState(of: file) { $0.mayHavePages = true } }
        try checkNotClosed(handle)
        switch handle {
        case .directory: throw .isDirectory
        case .control(let handle):
            if options.commandLimit != nil { request.willBlock() }
            let slab = try Self.slab(handle.next(size, limit: options.commandLimit))
            body(&request, slab.bytes)
        case .exchange(let exchange): try read(exchange, size: size, owner: owner, &request, body)
        case .reader(let file, nil, _):
            // The file has no secret, but reads must fail after a lock (L2).
            try withState(of: file) { (state) throws(Errno) in _ = try item(of: &state) }
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

    /// Requires that no lock has closed the file since the descriptor was opened (L2).
    ///
    /// - Throws: ENOKEY.
    func checkNotClosed(_ handle: Handle) throws(Errno) {
        if handle.isClosedByLock { throw .noKey }
    }

    /// Reads the value that the writers of an item share, or the committed value if nothing is staged (F3).
    func readShared(_ writer: FileWriter, offset: Int, size: Int) throws(Errno) -> SecretBytes {
        try withState(of: writer.file) { (state) throws(Errno) in
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

    /// Truncates. truncate(2) commits immediately, because no close follows; ftruncate(2) is like a write.
    func truncate(
        _ state: inout ItemFile.State, to size: UInt64, _ changes: AttributeChanges, by user: UInt32
    ) throws(Errno) {
        let size = Int(clamping: size)
        recordUse()
        state.truncations += 1
        guard let handle = changes.handle else {
            return try truncateImmediately(&state, to: size, charging: memory.share(of: user))
        }
        let writer = try writer(handle)
        try checkNotLost(writer, state)
        // A refused truncation leaves the complete value.
        let refusal = refusal(to: size)
        let stagedValue = try loadStagedValue(
            &state, upTo: refusal == nil ? size : .max, charging: memory.share(of: writer.user))
        try abandoningOnFailure(stagedValue) { () throws(Errno) in
            if let refusal { throw refusal }
            try mapped { () throws(KeychainFault) in try stagedValue.truncate(to: size) }
        }
        changed(stagedValue, by: changes.lockOwner)
    }

    /// truncate(2): no descriptor exists that could discard the staged value or get an error later.
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
            // A failed change must not be committed by a writer's close.
            if !isShared {
                state.stagedValue = nil
                keepOpenValue(&state)
            }
            throw error
        }
    }

    /// Returns the reason why a value cannot get that size; nil if it can.
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

    /// Requires that no lock has discarded the staged value since the descriptor was opened (L2).
    ///
    /// - Throws: ENOKEY.
    func checkNotLost(_ writer: FileWriter, _ state: borrowing ItemFile.State) throws(Errno) {
        if writer.discards != state.discards { throw .noKey }
    }

    private func writer(_ id: HandleID) throws(Errno) -> FileWriter {
        guard case .writer(let writer) = try handle(id) else { throw .badFileDescriptor }
        return writer
    }

    /// Returns the value that writers share. If nothing is staged, creates it from the first `count` bytes of the
    /// committed value.
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

    /// Abandons the staged value if `body` fails, for any reason: the value lacks those bytes, or is the result of
    /// O_TRUNC. Close repeats the error (F1).
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

    /// Requires that the disk has space for a commit of that many bytes. Checked here, because shells ignore the error
    /// of close.
    func checkFreeSpace(for count: Int) throws(Errno) {
        // Shells ignore the error of close, so a keychain that accepts no commit reports it at the open.
        guard keychain.isInPlace else { throw KeychainFault.notAvailable.errno }
        guard !freeSpace.isAmple(at: host.uptime) else { return }
        let hasSpace = try keychain.hasSpace(for: count, longest: options.valueLimit) { () throws(Errno) in
            // A file system that cannot report its free space may have enough; the commit detects a full disk.
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
        try withState(of: writer.file) { (state) throws(Errno) in
            try checkNotLost(writer, state)
            let isDying = host.isDyingOfSignal(caller)
            if isDying { state.killedOwners[owner] = host.process(ofThread: caller) }
            guard let stagedValue = state.stagedValue, stagedValue.state.needsFlush else { return }
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
            try withState(of: writer.file) { (state) throws(Errno) in try checkNotLost(writer, state) }
            try sync(writer.file)
        }
    }

    private func sync(_ file: ItemFile) throws(Errno) {
        try withState(of: file) { (state) throws(Errno) in
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

    /// Commits the staged value: item, attributes and directory in one transaction (F4). A detached file has nothing to
    /// commit.
    ///
    /// If an item of the API has got the name in the meantime, a pending file becomes that item's if `adopting`;
    /// otherwise EEXIST.
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
            // The API has deleted it, and the file is about to be notified: treated like a write to an unlinked file
            // (F6).
            keepStagedInDetachedFile(stagedValue, &state)
        } catch {
            stagedValue.note { $0.commitFailed(with: error.errno) }
            throw error.errno
        }
    }

    /// Keeps data written to a file without a name in the file, and the times that processes have seen (F6, F8).
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
        let open = state.item.flatMap { staysUsable(state, $0) ? $0 : nil }
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

    /// Returns the item with which the value is committed: the pending item of a new name, or the stored one. A
    /// WhenUnlockedUnlessOpen item cannot be opened while locked; the cached item of the open file is used then.
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

    /// Records that the item in the store has its present state, with or without the `staged` value.
    func committed(_ state: inout ItemFile.State, _ item: Item, staged: Bool = true) {
        if state.isPending {
            state.isPending = false
            state.directory.removePending(CanonicalName(account: item.account), state.row)
        }
        (state.freed, state.adopted, state.attributeCharge) = (nil, nil, nil)
        show(item, &state)
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

    /// Moves the staged value under the key of the item's present class, so that a lock wipes both or none (L2). A
    /// committed value is staged again with the next write.
    func moveStaging(_ state: inout ItemFile.State) {
        guard let stagedValue = state.stagedValue, let item = state.item else { return }
        let availability = ProtectionClass.Availability.strictest(of: state.protections(item))
        guard stagedValue.availability != availability else { return }
        guard stagedValue.state.needsFlush else { return state.stagedValue = nil }
        do throws(KeychainFault) {
            try stagedValue.move(to: try stagingKeys.key(for: availability), of: availability)
        } catch {
            // The class is changed nevertheless; a lock may wipe a value that it should leave.
            log.error("a staged value stays under the key of a former class", metadata: ["errno": "\(error.errno)"])
        }
    }
}
