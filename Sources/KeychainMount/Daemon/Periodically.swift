import Dispatch

/// Does something every so many seconds, on a thread of its own, until it is cancelled.
struct Periodically {
    private let timer: any DispatchSourceTimer
    private let queue = DispatchQueue(label: "keychainfs.periodically")

    init(seconds: Double, _ body: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + seconds, repeating: seconds)
        timer.setEventHandler(handler: body)
        timer.activate()
    }

    /// Returns when nothing of it runs any more.
    func cancel() {
        timer.cancel()
        queue.sync {}
    }
}
