package import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    /// The number of bytes of plaintext that are copied at a time, which fit into a slab.
    private static let copySize = 16_384

    /// copy_file_range(2) within the mount: the bytes pass only through locked memory, never through the page cache
    /// (H1).
    ///
    /// The source is the value of its descriptor (F3); the target is staged as by a write. The request contains no lock
    /// owner, so the next close of the target by any process commits (F1).
    package func copyFileRange(
        _ request: inout Request, from: NodeID, fromHandle: HandleID, fromOffset: UInt64, to: NodeID,
        toHandle: HandleID, toOffset: UInt64, size: Int, owner: LockOwner
    ) throws(Errno) -> Int {
        guard case .writer(let target) = try handle(toHandle), target.flags.isWritable,
            !target.flags.contains(.append)
        else { throw .badFileDescriptor }
        let source = try copySource(fromHandle, at: fromOffset)
        try checkWritable()
        recordUse()
        let distance = fromOffset > toOffset ? fromOffset - toOffset : toOffset - fromOffset
        if from == to, distance < size { throw .invalidArgument }
        defer { stalePages.drain(&request) }
        let places = (Self.clamped(fromOffset), Self.clamped(toOffset))
        var done = 0
        do throws(Errno) {
            while done < size {
                let slab = try read(source, at: places.0 + done, size: min(Self.copySize, size - done))
                guard slab.count > 0 else { break }
                let offset = places.1 + done
                try withState(of: target.file) { (state) throws(Errno) in
                    try stage(slab.bytes, at: offset, of: target, &state, by: owner)
                }
                done += slab.count
            }
        } catch {
            // As for write(2): the copied bytes are reported, and the next call gets the error.
            if done == 0 { throw error }
        }
        if done > 0, target.flags.isSynchronous {
            awaitIndexes(before: target.file, request)
            try withState(of: target.file) { (state) throws(Errno) in try commit(&state) }
        }
        return done
    }

    /// Returns the handle of the source.
    ///
    /// - Throws: EBADF if it cannot be read; EINVAL if it has no value.
    private func copySource(_ id: HandleID, at offset: UInt64) throws(Errno) -> Handle {
        let handle = try handle(id)
        try checkNotClosed(handle)
        switch handle {
        case .control, .exchange, .directory: throw .invalidArgument
        case .writer(let writer) where !writer.flags.isReadable: throw .badFileDescriptor
        case .writer: break
        case .reader(let file, let secret, let past):
            try checkUncut(file, secret?.count ?? 0, past.truncations, at: offset)
        case .snapshotReader(let file, let snapshot, let past):
            try checkUncut(file, snapshot.contents.count, past.truncations, at: offset)
        }
        return handle
    }

    /// Requires that the kernel cannot have limited the request to a smaller size than that of the descriptor's value,
    /// because it knows only one size per file. After EINVAL programs continue with read(2), which the kernel does not
    /// limit; but not after a call that copied something (cp of coreutils 9.7), so a call at the end of the value succeeds.
    private func checkUncut(_ file: ItemFile, _ count: Int, _ truncations: Int, at offset: UInt64) throws(Errno) {
        guard offset < UInt64(count) else { return }
        try withState(of: file) { (state) throws(Errno) in
            let item = try item(of: &state)
            guard state.truncations == truncations, state.stagedValue?.count ?? item.secretCount ?? 0 >= count else {
                throw .invalidArgument
            }
        }
    }

    /// Clamps an offset to a value beyond every limit that does not overflow when a length is added.
    private static func clamped(_ offset: UInt64) -> Int { min(Int(clamping: offset), Int.max / 2) }

    private func read(_ source: Handle, at offset: Int, size: Int) throws(Errno) -> SecretBytes {
        switch source {
        case .reader(_, let secret?, _):
            return try mapped { () throws(KeychainFault) in try secret.slab(at: offset, size: size) }
        case .snapshotReader(_, let snapshot, _):
            return try mapped { () throws(KeychainFault) in try snapshot.contents.slab(at: offset, size: size) }
        case .writer(let writer): return try readShared(writer, offset: offset, size: size)
        case .reader, .control, .exchange, .directory: return try Self.slab([])
        }
    }
}
