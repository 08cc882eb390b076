import Keychain
import Synchronization

/// The state of a device: the commit number of a store. Records for each saved value the number of disk calls at that
/// time.
final class DeviceStateStub: CommitNumberStore {
    private struct State {
        var numbers: [(commitIndex: Int, record: [UInt8])] = []
    }

    private let state: Mutex<State>
    private let commitIndex: @Sendable () -> Int

    /// - Parameter commitIndex: The age of values that are saved from now on.
    init(commitIndex: @escaping @Sendable () -> Int = { 0 }) {
        self.commitIndex = commitIndex
        state = Mutex(State())
    }

    /// The state of `other` that was durable at `commitIndex`.
    init(_ other: DeviceStateStub, at commitIndex: Int) {
        self.commitIndex = { commitIndex }
        let numbers = other.state.withLock { $0.numbers }
        state = Mutex(State(numbers: numbers.filter { $0.commitIndex <= commitIndex }))
    }

    func load(for store: [UInt8]) -> [UInt8]? { state.withLock { $0.numbers.last?.record } }

    func save(_ record: [UInt8], for store: [UInt8]) {
        let commitIndex = commitIndex()
        state.withLock { $0.numbers.append((commitIndex, record)) }
    }
}
