import CFuse3
import Glibc

/// The receiver role of a worker, and its buffers: the large buffer for the next message, and the buffer of the message in service.
///
/// At most one worker of a session has the role. Each object belongs to one thread, which alone uses it.
final class ReceiverRole {
    /// Where the message in service is.
    private enum Message {
        case none
        /// In the buffer that this worker receives into.
        case received(count: Int)
        case moved(MessageBufferPool.Lease, of: MessageBufferPool)
    }

    private let workers: WorkerPool
    private let large: MessageBufferPool
    private(set) var isReceiver = false
    /// The buffer to receive into; nil for a worker that neither has the role nor serves a message out of it.
    private var receiving: MessageBufferPool.Lease?
    private var message = Message.none

    /// `large` is where buffers to receive into are returned to.
    init(_ workers: WorkerPool, large: MessageBufferPool) {
        self.workers = workers
        self.large = large
    }

    /// Assumes the role, which ``WorkerPool/park(hasServed:tidying:)`` has given, with a buffer to receive into.
    func assume(_ lease: MessageBufferPool.Lease) {
        isReceiver = true
        receiving = lease
    }

    /// Yields the role to another thread; does nothing on a thread without it.
    ///
    /// The next receiver gets the buffer, unless the message in service is in it.
    func yield() {
        guard isReceiver else { return }
        isReceiver = false
        returnBuffer()
        workers.promoteNextReceiver()
    }

    // MARK: The message in service

    /// A message of `count` bytes is served out of the buffer that it was received into.
    func beginReceived(_ count: Int) { message = .received(count: count) }

    /// A message is served out of another buffer.
    func beginMoved(_ lease: MessageBufferPool.Lease, of buffers: MessageBufferPool) {
        message = .moved(lease, of: buffers)
    }

    /// Wipes the message in service, and returns its buffer if no receiver on this thread needs it; does nothing the second time.
    func release() {
        switch message {
        case .none: return
        case .received(let count):
            message = .none
            receiving?.buffer.wipe(count)
            if !isReceiver { returnBuffer() }
        case .moved(let lease, let buffers):
            message = .none
            lease.buffer.wipe(lease.count)
            buffers.release(lease)
        }
    }

    private func returnBuffer() {
        if case .received = message { return }
        if let receiving { large.release(receiving) }
        receiving = nil
    }

    // MARK: The calling thread

    /// Yields the role, if the calling thread has it (``Request/willBlock()``). A closure that is formed once in a nonisolated context,
    /// not allocated for each request.
    static let yieldCurrent: @Sendable () -> Void = { current?.yield() }

    /// Releases the message that the calling thread serves (``Request/releaseMessage()``).
    static let releaseMessage: @Sendable () -> Void = { current?.release() }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    /// The object of the calling worker, which keeps it alive while it is set; nil on all other threads.
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
