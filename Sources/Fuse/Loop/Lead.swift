import CFuse3
import Glibc

/// A worker's part in who receives: whether it is the leader, and how it ceases to be.
///
/// Belongs to one thread, which alone touches it.
final class Lead {
    private let workers: Workers
    private(set) var isHeld = false
    /// What whoever leads next needs, and this worker does not while it serves a short message.
    private var spare: (slot: MessageBuffers.Slot, buffers: MessageBuffers)?

    init(_ workers: Workers) { self.workers = workers }

    /// ``Workers/park(tidying:)`` has given it.
    func hold() { isHeld = true }

    /// Hands it to another thread; nothing if that has been done.
    func pass() {
        guard isHeld else { return }
        isHeld = false
        if let spare { spare.buffers.giveBack(spare.slot) }
        spare = nil
        workers.passLead()
    }

    /// Runs `body`; if the lead is passed on meanwhile, so is `slot`. Returns whether it is held still.
    func sparing(_ slot: MessageBuffers.Slot, of buffers: MessageBuffers, _ body: () -> Void) -> Bool {
        spare = (slot, buffers)
        body()
        spare = nil
        return isHeld
    }

    /// What a handler calls that turns out to take long (``Request/handOn()``). A closure in a nonisolated context: no
    /// allocation for each request.
    static let handOn: @Sendable () -> Void = { ofThisThread?.pass() }

    // MARK: A thread's own

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// That of the calling worker, which keeps it alive as long as it is set; nil on all other threads.
    static var ofThisThread: Lead? {
        get {
            guard let address = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<Lead>.fromOpaque(address).takeUnretainedValue()
        }
        set {
            unsafe pthread_setspecific(
                key, newValue.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
        }
    }
}
