/// A closure that a thread lends to another one, which calls it while the first one waits.
///
/// @unchecked: `body` is touched by one thread at a time, because the owner waits from the moment it gives the object away
/// until it hears that the call has been made.
package final class LentCall<Argument, Outcome>: @unchecked Sendable {
    private var body: ((Argument) -> Outcome)?

    private init(_ body: @escaping (Argument) -> Outcome) { self.body = body }

    /// Calls it; nil and nothing the second time.
    package func callAsFunction(_ argument: Argument) -> Outcome? {
        // Swift checks at the end of `lend` that nobody has the closure any more: whoever calls it lets go of it first.
        let body = self.body
        self.body = nil
        return body?(argument)
    }

    /// Lends `body` for as long as `borrow` runs, which returns once nobody else will call it.
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
