import Dispatch

/// Does something once a minute, on a thread of its own, until it is cancelled.
struct Minutely {
    private let timer: any DispatchSourceTimer
    private let queue = DispatchQueue(label: "keychainfs.minutely")

    init(_ body: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 60, repeating: 60, leeway: .seconds(1))
        timer.setEventHandler(handler: body)
        timer.activate()
    }

    /// Returns when nothing of it runs any more.
    func cancel() {
        timer.cancel()
        queue.sync {}
    }
}
