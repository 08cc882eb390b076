package import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
package import SystemPackage

/// WRITE: data is staged immediately, or after a wait.
extension KeychainFileSystem {
    package func write(
        _ request: inout Request, node: NodeID, handle id: HandleID, offset: UInt64, data: RawSpan, owner: LockOwner,
        flags: OpenFlags
    ) throws(Errno) -> Int {
        let handle = try handle(id)
        if case .exchange(let exchange) = handle { return try write(data, to: exchange, request.caller) }
        switch handle {
        case .reader, .snapshotReader, .directory, .exchange: throw .badFileDescriptor
        case .control(let handle): return try write(data, to: handle, request: &request)
        case .writer(let writer):
            guard writer.flags.isWritable else { throw .badFileDescriptor }
            try checkWritable()
            recordUse()
            defer { stalePages.drain(&request) }
            return try write(&request, data, at: offset, of: writer, by: owner, flags)
        }
    }

    /// Stages the data immediately if that cannot block. Otherwise yields the receiver role and releases the message:
    /// it may contain 1 MiB, and there are four buffers for such messages.
    private func write(
        _ request: inout Request, _ data: RawSpan, at offset: UInt64, of writer: FileWriter, by owner: LockOwner,
        _ flags: OpenFlags
    ) throws(Errno) -> Int {
        let (count, caller) = (data.byteCount, request.caller)
        let position = flags.contains(.append) ? nil : Int(clamping: offset)
        // For a commit, or for free space on the disk.
        let mayWait = flags.isSynchronous || !freeSpace.isAmple(at: host.uptime)
        if !mayWait {
            if count > Self.shortWrite { request.willBlock() }
            let isStaged = try withStateIfAvailable(of: writer.file) { (state) throws(Errno) in
                // Otherwise the committed value must be read first.
                guard let stagedValue = state.stagedValue else { return false }
                try checkNotLeftBehind(state, writtenBy: caller, owner)
                try abandoningOnFailure(stagedValue) { () throws(Errno) in try dropPrivileges(&state, writtenBy: caller)
                }
                try stage(data, at: position, of: writer, &state, by: owner)
                return true
            }
            if isStaged == true { return count }
        }
        try writeWaiting(&request, data, at: position, of: writer, by: owner, flags)
        return count
    }

    /// Stages the data, and commits it if the descriptor requires that. Before that, long data is sealed and its
    /// message released; without memory for that the message is retained.
    private func writeWaiting(
        _ request: inout Request, _ data: RawSpan, at position: Int?, of writer: FileWriter, by owner: LockOwner,
        _ flags: OpenFlags
    ) throws(Errno) {
        let caller = request.caller
        request.willBlock()
        let sealed = seal(data, of: writer)
        if sealed != nil { request.releaseMessage() }
        if flags.isSynchronous { awaitIndexes(before: writer.file, request) }
        try withState(of: writer.file) { (state) throws(Errno) in
            try checkNotLeftBehind(state, writtenBy: caller, owner)
            try abandoningOnFailure(state.stagedValue) { () throws(Errno) in
                try dropPrivileges(&state, writtenBy: caller)
            }
            if let sealed {
                try stage(sealed, at: position, of: writer, &state, by: owner)
            } else {
                try stage(data, at: position, of: writer, &state, by: owner)
            }
            if flags.isSynchronous { try commit(&state) }
        }
    }

    /// Refuses a write of a process that a signal has ended: its FLUSH has abandoned the value already (F1). The kernel
    /// gives the lock owner to later processes, too, which may have inherited the descriptor.
    ///
    /// - Throws: ECANCELED.
    private func checkNotLeftBehind(
        _ state: borrowing ItemFile.State, writtenBy caller: Caller, _ owner: LockOwner
    ) throws(Errno) {
        // Of a process in another PID namespace neither the end nor the identity is known.
        guard let killed = state.killedOwners[owner], caller.processID != 0 else { return }
        guard let process = host.process(ofThread: caller.processID), process != killed else { throw .canceled }
    }

    /// The maximum length in bytes of a message that does not occupy a buffer that others need.
    private static let shortMessage = 2048

    /// Returns long data sealed under a key that a lock wipes together with the value; nil for short data, and without
    /// memory.
    private func seal(_ data: RawSpan, of writer: FileWriter) -> StagedSnapshot? {
        guard data.byteCount > Self.shortMessage, let key = try? stagingKeys.key(for: writer.availability) else {
            return nil
        }
        var buffer = SealedBuffer(key: key, limit: data.byteCount)
        do throws(CryptoError) {
            try buffer.write(data, at: 0, charging: waiting.share(of: writer.user))
        } catch {
            return nil
        }
        return StagedSnapshot(buffer)
    }

    private func stage(
        _ sealed: StagedSnapshot, at position: Int?, of writer: FileWriter, _ state: inout ItemFile.State,
        by owner: LockOwner
    ) throws(Errno) {
        try checkNotLost(writer, state)
        let stagedValue = try loadStagedValue(&state, charging: memory.share(of: writer.user))
        var offset = 0
        repeat {
            let part = try abandoningOnFailure(stagedValue) { () throws(Errno) in
                try mapped { () throws(KeychainFault) in
                    try sealed.contents.slab(at: offset, size: Self.shortWrite)
                }
            }
            try stage(part.bytes, at: position.map { $0 + offset }, of: writer, &state, by: owner)
            offset += part.count
        } while offset < sealed.contents.count
    }

    /// The number of bytes above which encryption takes longer than waking another receiver.
    private static let shortWrite = 16_384

    /// Writes bytes into the value that writers share; at its end if `offset` is nil.
    func stage(
        _ data: RawSpan, at offset: Int?, of writer: FileWriter, _ state: inout ItemFile.State, by owner: LockOwner
    ) throws(Errno) {
        try checkNotLost(writer, state)
        let share = memory.share(of: writer.user)
        let stagedValue = try loadStagedValue(&state, charging: share)
        let offset = offset ?? stagedValue.count
        let count = data.byteCount
        try abandoningOnFailure(stagedValue) { () throws(Errno) in
            try checkLimit(offset, count)
            try checkFreeSpace(for: max(stagedValue.count, offset + count))
            try mapped { () throws(KeychainFault) in try stagedValue.write(data, at: offset, charging: share) }
        }
        changed(stagedValue, by: owner)
    }
}
