import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// What an open descriptor refers to.
enum Handle: Sendable {
    /// Read-only: one value, that of its open, still sealed (F3). Nil for an item without a secret.
    case reader(ItemFile, SealedSecret?, FilePast)
    /// Read-only, of a name that was not committed yet at its open.
    case snapshotReader(ItemFile, StagedSnapshot, FilePast)
    case writer(FileWriter)
    case control(ControlHandle)
    /// The control file `rpc`.
    case exchange(RPCHandle)
    case directory(DirectoryHandle)

    /// The file of an item, if it is one.
    var itemFile: ItemFile? {
        switch self {
        case .reader(let file, _, _), .snapshotReader(let file, _, _): file
        case .writer(let writer): writer.file
        case .control, .exchange, .directory: nil
        }
    }

    /// Whether a lock has closed it since its open: reads fail with ENOKEY from then on (L2).
    var isClosedByLock: Bool {
        switch self {
        case .reader(let file, _, let past), .snapshotReader(let file, _, let past):
            file.closings.load(ordering: .acquiring) != past.lockClosures
        case .writer, .control, .exchange, .directory: false
        }
    }

    /// The same without its value.
    var emptied: Handle {
        switch self {
        case .reader(let file, _, let past), .snapshotReader(let file, _, let past): .reader(file, nil, past)
        case .writer, .control, .exchange, .directory: self
        }
    }

    /// What the value that it has open takes, in bytes, others who have it too left out of account.
    var weight: Int {
        switch self {
        case .reader(_, let secret, _): secret?.count ?? 0
        case .snapshotReader(_, let snapshot, _): snapshot.contents.count
        case .writer(let writer): writer.file.state.withLock { $0.stagedValue?.count ?? 0 }
        case .exchange(let exchange): exchange.weight
        case .control, .directory: 0
        }
    }
}

/// What a file had been through when a descriptor was opened.
struct FilePast: Sendable {
    /// ``ItemFile/State/cuts``
    let truncations: Int
    /// ``ItemFile/lockClosures``
    let lockClosures: Int
}

/// An open descriptor that can write.
struct FileWriter: Sendable {
    let file: ItemFile
    let flags: OpenFlags
    /// The user who opened it. Written data is charged to this user: not to root, if a set-user-ID program writes to it.
    let user: UInt32
    /// How often the file had lost what was staged when it was opened: since then it has none if that is no longer so.
    let discards: Int
    /// The availability of the item when it was opened.
    let availability: ProtectionClass.Availability
}

/// An open directory: what its listing had to leave out so far.
///
/// A listing from which anything is left out ends with an error, never cleanly (L1); it is made in many calls, and the
/// one that ends it is seldom the one that left something out.
final class DirectoryHandle: Sendable {
    private let error = Mutex<Errno?>(nil)

    /// A listing begins, or begins again.
    func restart() {
        error.withLock { $0 = nil }
    }

    /// A locked item counts for more than a damaged one: unlocking may be all it takes.
    func recordOmission(_ isDamaged: Bool) {
        error.withLock { $0 = isDamaged ? $0 ?? .corrupt : .noKey }
    }

    /// The end of the directory.
    func end() throws(Errno) {
        if let error = error.withLock({ $0 }) { throw error }
    }
}

/// An open control file.
final class ControlHandle: Sendable {
    let file: ControlFileKind
    /// What reads have not given yet: of the status at the open, or of the answer of the last command.
    private let rest: Mutex<ArraySlice<UInt8>>
    /// A command whose write has returned before its end.
    private let running = Mutex<RunningCommand?>(nil)

    init(_ file: ControlFileKind, response: [UInt8]) {
        self.file = file
        rest = Mutex(response[...])
    }

    /// A new answer takes the place of the last one.
    func set(_ response: [UInt8]) {
        rest.withLock { $0 = response[...] }
    }

    /// Runs a command on another thread, unless one runs already: EBUSY. Returns after its end, or after the limit; then
    /// ``next(_:limit:)`` gets its result.
    ///
    /// - Returns: False if there is no thread: nothing has been done.
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

    /// Takes over the result of a command if it ends within the limit. Throws its error.
    private func finish(_ command: RunningCommand, _ limit: CommandLimit) throws(Errno) {
        guard let result = command.wait(milliseconds: limit.longestWait) else { return }
        let isFirst = running.withLock { running in
            defer { if running === command { running = nil } }
            return running === command
        }
        // Another thread that waited for it has taken it over.
        guard isFirst else { return }
        do throws(KeychainFault) { set(try result.get()) } catch { throw error.errno }
    }

    /// The next bytes; offsets mean nothing, as on a terminal. EAGAIN if a command still runs after the limit.
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
