import CFuse3
import FileSystemCore
import Glibc

/// The receiver role of a worker, and its buffers: the large buffer for the next message, and the buffer of the message in service.
///
/// At most one worker of a session has the role. Each object belongs to one thread, which alone uses it.
final class ReceiverRole {
    /// The location of the message in service.
    private enum Message {
        case none
        /// In the buffer into which this worker receives.
        case received(count: Int)
        case moved(MessageBufferPool.Lease, of: MessageBufferPool)
    }

    private let workers: WorkerPool
    private let large: MessageBufferPool
    /// The worker's stack.
    let stack: StackWipe.Member
    private(set) var isReceiver = false
    /// The buffer to receive into; nil for a worker that neither has the role nor serves a message out of it.
    private var receiving: MessageBufferPool.Lease?
    private var message = Message.none
    /// Whether the handler of the message in service no longer uses its bytes when it waits for another request.
    var isCopied = false

    /// - Parameter large: The pool to which receive buffers are returned.
    init(_ workers: WorkerPool, large: MessageBufferPool, _ stack: StackWipe.Member) {
        self.stack = stack
        self.workers = workers
        self.large = large
    }

    /// Assumes the role, which ``WorkerPool/nextTask(hasServed:tidying:)`` has assigned, with a buffer for the next
    /// message.
    func assume(_ lease: MessageBufferPool.Lease) {
        isReceiver = true
        receiving = lease
    }

    /// Yields the role to another thread. Has no effect on a thread without it.
    ///
    /// The next receiver gets the buffer, unless the message in service is in it.
    func yield() {
        guard isReceiver else { return }
        isReceiver = false
        returnBuffer()
        workers.promoteNextReceiver()
    }

    // MARK: The message in service

    /// Begins to serve a message of `count` bytes in the buffer into which it was received.
    func beginReceived(_ count: Int) { message = .received(count: count) }

    /// Begins to serve a message in another buffer.
    func beginMoved(_ lease: MessageBufferPool.Lease, of buffers: MessageBufferPool) {
        message = .moved(lease, of: buffers)
    }

    /// Wipes the message in service, and returns its buffer if no receiver on this thread needs it. A second call has
    /// no effect.
    ///
    /// - Parameter byte: What the message is overwritten with after it has been wiped; nil: zeros.
    func release(fillingWith byte: UInt8? = nil) {
        switch message {
        case .none: return
        case .received(let count):
            message = .none
            receiving?.buffer.wipe(count, fillingWith: byte)
            if !isReceiver { returnBuffer() }
        case .moved(let lease, let buffers):
            message = .none
            lease.buffer.wipe(lease.count, fillingWith: byte)
            buffers.release(lease)
        }
    }

    private func returnBuffer() {
        if case .received = message { return }
        if let receiving { large.release(receiving) }
        receiving = nil
    }

    // MARK: The calling thread

    /// Yields the role if the calling thread has it (``Request/willBlock()``). A closure that is created once, in a
    /// nonisolated context, rather than allocated for each request.
    static let yieldCurrent: @Sendable () -> Void = { current?.yield() }

    /// Observes waits for other requests, once per process.
    static let observesWaits: Void = RequestWait.observe {
        // The observer is called on all threads.
        current?.announceWait()
    }

    /// Yields the role and releases the message, so that neither waits with the calling thread.
    private func announceWait() {
        // First, so that the next receiver gets the buffer.
        if isCopied { release(fillingWith: Self.wipedEarly) }
        yield()
    }

    /// The bytes that replace a message whose handler has not ended yet. In debug builds not zero, so that a handler that reads it
    /// after a wait fails a test.
    private static let wipedEarly: UInt8? = {
        #if DEBUG
        0xA5
        #else
        nil
        #endif
    }()

    /// Releases the message that the calling thread serves (``Request/releaseMessage()``).
    static let releaseMessage: @Sendable () -> Void = { current?.release(fillingWith: wipedEarly) }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// The object of the calling worker, retained while it is set; nil on all other threads.
    static var current: ReceiverRole? {
        get {
            guard let address = unsafe pthread_getspecific(key) else { return nil }
            return unsafe Unmanaged<ReceiverRole>.fromOpaque(address).takeUnretainedValue()
        }
        set {
            unsafe pthread_setspecific(
                key, newValue.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
        }
    }
}
