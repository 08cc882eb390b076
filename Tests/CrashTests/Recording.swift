import Foundation

@testable import Keychain
@testable import KeychainStorage

/// What a keychain may be at some moment of a recording, seen by whoever opens it then.
struct Expectation: Hashable, Sendable {
    let snapshot: Snapshot
    /// The secrets that open it.
    let openers: Set<Opener>

    /// Of a keychain that is unlocked.
    init(of safe: Safe) throws {
        snapshot = try Snapshot(of: safe.keychain)
        var openers: Set<Opener> = []
        for opener in Opener.allCases where try safe.opens(opener) { openers.insert(opener) }
        self.openers = openers
    }
}

/// A workload from its begin to its end on a disk that does not fail: what the disk saw, and what was there after each step.
final class Recording {
    struct Moment {
        let step: String
        /// How many events the disk had seen when the step began, and when it was acknowledged.
        let events: Range<Int>
        /// From the acknowledgement on.
        let expectation: Expectation
    }

    let seed: UInt64
    let disk: FaultDisk
    let notebook: Notebook
    /// The database when the recording began; it had no log then.
    let begin: [UInt8]
    /// What holds before the first step.
    let first: Expectation
    private(set) var moments: [Moment] = []

    init(seed: UInt64, steps: [Step] = Workload.steps) throws {
        self.seed = seed
        let world = try World(seed: seed)
        (disk, notebook) = (world.disk, world.notebook)
        try world.safe.store.checkpoint()
        begin = [UInt8](try Data(contentsOf: URL(fileURLWithPath: disk.keychain)))
        start = disk.eventCount
        first = try Expectation(of: world.safe)
        for step in steps {
            let count = disk.eventCount
            try step.run(world)
            moments.append(
                Moment(step: step.name, events: count..<disk.eventCount, expectation: try Self.expectation(world)))
        }
    }

    private let start: Int
    var events: Range<Int> { start..<disk.eventCount }

    /// As it is; of one that is locked, as whoever opens a copy of it finds it.
    static func expectation(_ world: World) throws -> Expectation {
        if world.safe.ring.state == .unlocked, world.safe.store.isInPlace { return try Expectation(of: world.safe) }
        let copy = try FaultDisk()
        for end in ["", "-wal"] where FileManager.default.fileExists(atPath: world.disk.keychain + end) {
            try FileManager.default.copyItem(atPath: world.disk.keychain + end, toPath: copy.keychain + end)
        }
        let safe = try Safe(opening: copy.keychain, Notebook())
        defer { safe.close() }
        try safe.unlock(world.opener)
        return try Expectation(of: safe)
    }

    /// What may be there if the power fails when the disk has seen so many events: what the last acknowledged step left, or
    /// what the one that is under way will leave.
    func candidates(at point: Int) -> (step: String, [Expectation]) {
        let index = moments.firstIndex { $0.events.upperBound > point } ?? moments.count
        let before = index == 0 ? first : moments[index - 1].expectation
        guard index < moments.count, moments[index].events.lowerBound < point else { return ("after all", [before]) }
        return (moments[index].step, [before, moments[index].expectation])
    }
}
