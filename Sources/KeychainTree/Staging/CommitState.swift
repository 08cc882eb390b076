import FileSystemCore
import SystemPackage

/// Decides when a staged value is committed, refused or dropped: the rules of F1 as a value type without side effects.
///
/// One per staged value, shared by all descriptors of the item. Callers report events, and execute its decisions.
struct CommitState: Equatable, Sendable {
    /// Whether there is something to commit: a creation, a truncation or a write.
    private(set) var isUncommitted = false
    /// Whether a caller died or a write was refused, without a later write that continues the value.
    private(set) var isAbandoned = false
    /// Whether the descriptor of the open has been used. A process that is killed in open(2) never gets it, and its
    /// last close has no FLUSH.
    private var isUsed = false
    /// The lock owners that have written or truncated since the last commit.
    private var writers: Set<LockOwner> = []
    /// Whether a caller has written without a lock owner in the request (copy_file_range), so that every close may be
    /// its own.
    private var hasUnknownWriter = false
    /// The error of a refused write, which close repeats.
    private var refusal: Errno?
    /// The error of the last commit, which every close retries.
    private var failure: Errno?

    /// The decision at a FLUSH or the last close.
    enum Decision: Equatable {
        case nothing
        case commit
        case drop
        case fail(Errno)
    }

    /// Whether a FLUSH requires a decision; otherwise its caller need not be determined.
    var needsFlush: Bool { isUncommitted || refusal != nil }

    /// Whether a rename commits the value (F5): it has been written. Not an abandoned value, and not one after O_TRUNC
    /// without a write, which may still be undone.
    var isWritten: Bool {
        isUncommitted && !isAbandoned && (!writers.isEmpty || hasUnknownWriter || failure != nil)
    }

    /// Records that O_CREAT created the name, or O_TRUNC emptied the value: committed at the last close only.
    mutating func opened() {
        isUncommitted = true
    }

    /// Records a successful write or ftruncate.
    mutating func changed(by owner: LockOwner) {
        isUncommitted = true
        isUsed = true
        if owner.rawValue == 0 { hasUnknownWriter = true } else { writers.insert(owner) }
        takeUp()
    }

    /// Records a failed write (EFBIG, ENOSPC, ENOMEM, …): the staged value is not the intended one.
    mutating func refused(with error: Errno) {
        refusal = error
        isAbandoned = true
    }

    /// Decides at the close of a descriptor.
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

    /// Decides at an fsync or fdatasync of any caller.
    mutating func sync() -> Decision {
        takeUp()
        guard isUncommitted else { return .nothing }
        isUsed = true
        return .commit
    }

    /// Decides at the last close, which cannot report an error.
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
