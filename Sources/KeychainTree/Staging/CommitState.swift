import FileSystemCore
import SystemPackage

/// When a staged value is committed, refused or dropped: the rules of F1 as a pure value.
///
/// One per staged value, shared by all descriptors of the item. It is told what happened and says what to do.
struct CommitState: Equatable, Sendable {
    /// There is something to commit: a creation, a truncation or a write.
    private(set) var isUncommitted = false
    /// A caller died, or a write was refused, and nobody has taken the value up since.
    private(set) var isAbandoned = false
    /// Somebody has used the descriptor that the open has made: a process that is killed while it is in open(2) never gets
    /// it, and the last close comes without a FLUSH.
    private var isUsed = false
    /// Who has written or truncated since the last commit.
    private var writers: Set<LockOwner> = []
    /// Somebody has whom the kernel does not name (copy_file_range): every close might be theirs.
    private var hasUnknownWriter = false
    /// The error of a refused write, which close repeats.
    private var refusal: Errno?
    /// The error of the last commit, which every close tries to get over.
    private var failure: Errno?

    /// What FLUSH or the last close comes to.
    enum Decision: Equatable {
        case nothing
        case commit
        case drop
        case fail(Errno)
    }

    /// Whether a FLUSH has anything to decide on: there is no need to ask about its caller otherwise.
    var needsFlush: Bool { isUncommitted || refusal != nil }

    /// Whether somebody stands by what was written: a rename commits it (F5). Not what was abandoned, and not an O_TRUNC
    /// before its first byte, which may yet be taken back.
    var isWritten: Bool {
        isUncommitted && !isAbandoned && (!writers.isEmpty || hasUnknownWriter || failure != nil)
    }

    /// O_CREAT made the name, or O_TRUNC emptied the value: to be committed, but at the last close only.
    mutating func opened() {
        isUncommitted = true
    }

    /// A write or an ftruncate succeeded.
    mutating func changed(by owner: LockOwner) {
        isUncommitted = true
        isUsed = true
        if owner.rawValue == 0 { hasUnknownWriter = true } else { writers.insert(owner) }
        takeUp()
    }

    /// A write failed (EFBIG, ENOSPC, ENOMEM, …): what is staged is not what the caller wanted.
    mutating func refused(with error: Errno) {
        refusal = error
        isAbandoned = true
    }

    /// A descriptor is being closed.
    mutating func flush(by owner: LockOwner, callerIsDying: Bool) -> Decision {
        guard needsFlush else { return .nothing }
        isUsed = true
        if callerIsDying {
            writers.remove(owner)
            isAbandoned = true
            return .nothing
        }
        if let refusal { return .fail(refusal) }
        return writers.contains(owner) || hasUnknownWriter || failure != nil ? .commit : .nothing
    }

    /// fsync or fdatasync, by anybody.
    mutating func sync() -> Decision {
        takeUp()
        guard isUncommitted else { return .nothing }
        isUsed = true
        return .commit
    }

    /// The last descriptor is gone; nobody hears of an error.
    func lastClose() -> Decision {
        guard isUncommitted else { return .nothing }
        return isAbandoned || !isUsed ? .drop : .commit
    }

    mutating func committed() {
        self = CommitState()
    }

    mutating func commitFailed(with error: Errno) {
        failure = error
    }

    private mutating func takeUp() {
        isAbandoned = false
        refusal = nil
    }
}
