import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// The object of an open descriptor.
enum Handle: Sendable {
    /// A read-only descriptor with the sealed value of the time of its open (F3); nil for an item without a secret.
    case reader(ItemFile, SealedSecret?, FilePast)
    /// A read-only descriptor of a name that was not committed at the time of its open.
    case snapshotReader(ItemFile, StagedSnapshot, FilePast)
    case writer(FileWriter)
    case control(ControlHandle)
    /// The control file `rpc`.
    case exchange(RPCHandle)
    case directory(DirectoryHandle)

    /// The file of an item; nil for other handles.
    var itemFile: ItemFile? {
        switch self {
        case .reader(let file, _, _), .snapshotReader(let file, _, _): file
        case .writer(let writer): writer.file
        case .control, .exchange, .directory: nil
        }
    }

    /// Whether a lock has closed the file since the open: later reads fail with ENOKEY (L2).
    var isClosedByLock: Bool {
        switch self {
        case .reader(let file, _, let past), .snapshotReader(let file, _, let past):
            file.lockClosures.load(ordering: .acquiring) != past.lockClosures
        case .writer, .control, .exchange, .directory: false
        }
    }

    /// Returns the handle without its value.
    var emptied: Handle {
        switch self {
        case .reader(let file, _, let past), .snapshotReader(let file, _, let past): .reader(file, nil, past)
        case .writer, .control, .exchange, .directory: self
        }
    }

    /// The memory of its value in bytes, not counting that it may be shared. A staged value belongs to the file.
    var weight: Int {
        switch self {
        case .reader(_, let secret, _): secret?.count ?? 0
        case .snapshotReader(_, let snapshot, _): snapshot.contents.count
        case .exchange(let exchange): exchange.weight
        case .writer, .control, .directory: 0
        }
    }
}

/// The state of a file when a descriptor was opened.
struct FilePast: Sendable {
    /// ``ItemFile/State/truncations``
    let truncations: Int
    /// ``ItemFile/lockClosures``
    let lockClosures: Int
}

/// An open descriptor for writing.
struct FileWriter: Sendable {
    let file: ItemFile
    let flags: OpenFlags
    /// The user who opened it, to whom written data is charged, even if a set-user-ID program writes to it.
    let user: UInt32
    /// The number of times that the file's staged value had been discarded when it was opened. If it has changed, this
    /// descriptor's value was discarded.
    let discards: Int
    /// The availability of the item when it was opened.
    let availability: ProtectionClass.Availability
}

/// An open directory, and the entries that its listing had to omit.
///
/// A listing that omits an entry ends with an error (L1). It consists of several calls, and the last one usually did
/// not omit the entry.
final class DirectoryHandle: Sendable {
    private let error = Mutex<Errno?>(nil)

    /// Starts or restarts a listing.
    func restart() {
        error.withLock { $0 = nil }
    }

    /// Records an omitted entry. Locked items take precedence over damaged ones, because unlocking may be sufficient.
    func recordOmission(_ isDamaged: Bool) {
        error.withLock { $0 = isDamaged ? $0 ?? .corrupt : .noKey }
    }

    /// Ends the listing.
    ///
    /// - Throws: ENOKEY or EBADMSG if an entry was omitted.
    func end() throws(Errno) {
        if let error = error.withLock({ $0 }) { throw error }
    }
}

/// An open control file.
final class ControlHandle: Sendable {
    let file: ControlFileKind
    /// The bytes that have not been read: of the status at the open, or of the result of the last command.
    private let rest: Mutex<ArraySlice<UInt8>>
    /// A command whose write has returned before its end.
    private let running = Mutex<RunningCommand?>(nil)

    init(_ file: ControlFileKind, response: [UInt8]) {
        self.file = file
        rest = Mutex(response[...])
    }

    /// Replaces the bytes to be read by a new result.
    func set(_ response: [UInt8]) {
        rest.withLock { $0 = response[...] }
    }

    /// Runs a command on another thread. Returns after its end, or after the limit; ``next(_:limit:)`` then returns its
    /// result.
    ///
    /// - Returns: False if no thread can be created. The command has not been run then.
    /// - Throws: EBUSY if a command is running.
    func run(
        _ limit: CommandLimit, _ body: @escaping @Sendable () -> (RunningCommand.Result, [Notification])
    ) throws(Errno) -> Bool {
        let command = try running.withLock { (running) throws(Errno) in
            guard running == nil else { throw .resourceBusy }
            running = try? RunningCommand(limit, body)
            return running
        }
        guard let command else { return false }
        try finish(command, limit)
        return true
    }

    /// Takes the result of a command if it ends within the limit. Throws its error.
    private func finish(_ command: RunningCommand, _ limit: CommandLimit) throws(Errno) {
        guard let result = command.wait(milliseconds: limit.longestWait) else { return }
        // The result is set before another waiting thread finds the command ended.
        try running.withLock { (running) throws(Errno) in
            guard running === command else { return }
            running = nil
            do throws(KeychainFault) { set(try result.get()) } catch { throw error.errno }
        }
    }

    /// Returns the next bytes; offsets are ignored, as on a terminal.
    ///
    /// - Throws: EAGAIN if a command still runs after the limit.
    func next(_ size: Int, limit: CommandLimit?) throws(Errno) -> [UInt8] {
        if let limit, let command = running.withLock({ $0 }) {
            try finish(command, limit)
            if running.withLock({ $0 === command }) { throw .resourceTemporarilyUnavailable }
        }
        return rest.withLock { rest in
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
    }
}
