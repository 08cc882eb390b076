/// A non-escaping closure that another thread calls while its owner blocks.
///
/// @unchecked: only one thread at a time accesses `body`. The owner waits from the time at which it passes the object
/// on until it is notified of the result.
package final class LentCall<Argument, Outcome>: @unchecked Sendable {
    private var body: ((Argument) -> Outcome)?

    private init(_ body: @escaping (Argument) -> Outcome) { self.body = body }

    /// Calls the closure. A second call does nothing and returns nil.
    package func callAsFunction(_ argument: Argument) -> Outcome? {
        // Swift checks at the end of `withCall` that no reference to the closure remains, so the reference here is
        // released before the call.
        let body = self.body
        self.body = nil
        return body?(argument)
    }

    /// Makes `body` callable during `borrow`, which must return only when no other thread can call it any more.
    package static func withCall<Result>(
        _ body: (Argument) -> Outcome, to borrow: (LentCall<Argument, Outcome>) -> Result
    ) -> Result {
        withoutActuallyEscaping(body) { body in
            let call = LentCall(body)
            defer { call.body = nil }
            return borrow(call)
        }
    }
}
