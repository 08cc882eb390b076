import Foundation

@testable import Keychain
@testable import KeychainStorage

/// The possible contents of a keychain at one point of a recording, as a process that opens it then sees them.
struct Expectation: Hashable, Sendable {
    let snapshot: Snapshot
    /// The secrets that open it.
    let openers: Set<Opener>

    /// The contents of an unlocked keychain.
    init(of crashKeychain: CrashKeychain) throws {
        snapshot = try Snapshot(of: crashKeychain.keychain)
        var openers: Set<Opener> = []
        for opener in Opener.allCases where try crashKeychain.opens(opener) { openers.insert(opener) }
        self.openers = openers
    }
}

/// A complete workload on a disk that does not fail: the events of the disk, and the contents after each step.
final class Recording {
    struct RecordedState {
        let step: String
        /// The number of events when the step began, and when it was acknowledged.
        let events: Range<Int>
        /// From the acknowledgement on.
        let expectation: Expectation
    }

    let seed: UInt64
    let disk: FaultDisk
    let deviceState: DeviceStateStub
    /// The database when the recording began; it had no log then.
    let begin: [UInt8]
    /// The contents before the first step.
    let first: Expectation
    private(set) var moments: [RecordedState] = []

    init(seed: UInt64, steps: [Step] = Workload.steps) throws {
        self.seed = seed
        let storeUnderTest = try StoreUnderTest(seed: seed)
        (disk, deviceState) = (storeUnderTest.disk, storeUnderTest.deviceState)
        try storeUnderTest.crashKeychain.store.checkpoint()
        begin = [UInt8](try Data(contentsOf: URL(fileURLWithPath: disk.keychain)))
        start = disk.eventCount
        first = try Expectation(of: storeUnderTest.crashKeychain)
        for step in steps {
            let count = disk.eventCount
            try step.run(storeUnderTest)
            moments.append(
                RecordedState(
                    step: step.name, events: count..<disk.eventCount, expectation: try Self.expectation(storeUnderTest))
            )
        }
    }

    private let start: Int
    var events: Range<Int> { start..<disk.eventCount }

    /// The contents of the keychain; of a locked one, those of an opened copy.
    static func expectation(_ storeUnderTest: StoreUnderTest) throws -> Expectation {
        if storeUnderTest.crashKeychain.ring.state == .unlocked, storeUnderTest.crashKeychain.store.isInPlace {
            return try Expectation(of: storeUnderTest.crashKeychain)
        }
        let copy = try FaultDisk()
        for end in ["", "-wal"] where FileManager.default.fileExists(atPath: storeUnderTest.disk.keychain + end) {
            try FileManager.default.copyItem(atPath: storeUnderTest.disk.keychain + end, toPath: copy.keychain + end)
        }
        let crashKeychain = try CrashKeychain(
            opening: copy.keychain, DeviceStateStub(storeUnderTest.deviceState, at: .max))
        defer { crashKeychain.close() }
        try crashKeychain.unlock(storeUnderTest.opener)
        return try Expectation(of: crashKeychain)
    }

    /// The possible contents if the power fails after `point` events: those after the last acknowledged step, or those
    /// after the step in progress.
    func candidates(at point: Int) -> (step: String, [Expectation]) {
        let index = moments.firstIndex { $0.events.upperBound > point } ?? moments.count
        let before = index == 0 ? first : moments[index - 1].expectation
        guard index < moments.count, moments[index].events.lowerBound < point else { return ("after all", [before]) }
        return (moments[index].step, [before, moments[index].expectation])
    }
}
