import Keychain
import Synchronization

/// What a device keeps beside a store: the commit number and the note of a rekey, durable when kept, and when that was, by
/// the calls that the disk had seen.
final class Notebook: CommitNumberKeeper, RekeyKeeper {
    private struct State {
        var numbers: [(moment: Int, record: [UInt8])] = []
        var rekeys: [(moment: Int, generation: Int64?)] = []
    }

    private let state: Mutex<State>
    private let moment: @Sendable () -> Int

    /// `moment`: what is written down now is as old as that.
    init(moment: @escaping @Sendable () -> Int = { 0 }) {
        self.moment = moment
        state = Mutex(State())
    }

    /// What of another one was durable at a moment.
    init(_ other: Notebook, at moment: Int) {
        self.moment = { moment }
        let all = other.state.withLock { (numbers: $0.numbers, rekeys: $0.rekeys) }
        state = Mutex(
            State(
                numbers: all.numbers.filter { $0.moment <= moment },
                rekeys: all.rekeys.filter { $0.moment <= moment }))
    }

    func kept(for store: [UInt8]) -> [UInt8]? { state.withLock { $0.numbers.last?.record } }

    func keep(_ record: [UInt8], for store: [UInt8]) {
        let moment = moment()
        state.withLock { $0.numbers.append((moment, record)) }
    }

    func rekeyGeneration(of store: [UInt8]) -> Int64? { state.withLock { $0.rekeys.last?.generation ?? nil } }

    func keep(rekeyGeneration: Int64?, of store: [UInt8]) {
        let moment = moment()
        state.withLock { $0.rekeys.append((moment, rekeyGeneration)) }
    }
}
