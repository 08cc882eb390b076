import Foundation
import KeychainTesting
import TestSupport
import Testing

@testable import Keychain

/// Each write, truncation, sync, creation and deletion of SQLite's in a run of every kind of commit is a point at which the
/// process dies or the power fails; then the keychain is opened.
@Suite(.serialized) struct PowerCutTests {
    /// A time of the power cut, and the fate of the data that is not durable.
    private struct Case: CustomStringConvertible {
        let point: Int
        let sector: Int
        let loss: DiskModel.PowerLossMode

        var description: String { "\(point)/\(sector)/\(loss)" }
    }

    @Test("F1, F4, S2, S4: after a crash or a power cut at any point each item is old or new, and nothing stays behind")
    func everyPoint() throws {
        try ProofLength.repeating { seed, deadline in
            let recording = try Recording(seed: seed)
            #expect(recording.events.count > 500)
            // The next seed begins with the next event: this number of seeds covers every event.
            let stride = ProofLength.seconds == nil ? 61 : 31
            return try Self.sectors(seed).reduce(0) { count, sector in
                try count + run(recording, sector: sector, every: stride, until: deadline)
            }
        }
    }

    private static func sectors(_ seed: UInt64) -> [Int] { ProofLength.seconds == nil ? [512] : [512, 4096] }

    private func run(
        _ recording: Recording, sector: Int, every stride: Int, until deadline: ContinuousClock.Instant?
    ) throws -> Int {
        var model = DiskModel(database: recording.begin, sector: sector)
        var generator = SeededGenerator(seed: recording.seed)
        var count = 0
        for point in recording.events {
            model.apply(recording.disk[point])
            guard ProofLength.onlyCase != nil || (point + Int(recording.seed)) % stride == 0 else { continue }
            for loss in Self.powerLossModes(model, &generator) {
                let found = Case(point: point + 1, sector: sector, loss: loss)
                guard ProofLength.onlyCase ?? "\(found)" == "\(found)" else { continue }
                if try oracle(found, model, recording, continues: generator.next() % 4 == 0) { count += 1 }
            }
            if let deadline, ContinuousClock.now > deadline, ProofLength.onlyCase == nil { break }
        }
        return count
    }

    /// Nothing, everything, all subsets where they are few, else some.
    private static func powerLossModes(_ model: DiskModel, _ generator: inout SeededGenerator) -> [DiskModel
        .PowerLossMode]
    {
        let pieces = model.choiceCount
        let chance = generator.next()
        if pieces == 0 { return [.none] }
        if pieces <= 3 { return (0..<(1 << UInt64(pieces))).map { .exactly($0) } }
        return [.none, .all] + [16, 128, 240].map { .some(seed: chance, keeping: $0) }
    }

    private func oracle(
        _ found: Case, _ model: DiskModel, _ recording: Recording, continues: Bool
    ) throws -> Bool {
        let (step, expectations) = recording.candidates(at: found.point)
        let oracle = CrashOracle(
            expectations: expectations, deviceState: DeviceStateStub(recording.deviceState, at: found.point),
            continues: continues)
        guard let fault = try oracle.fault(of: model.files(after: found.loss)) else { return true }
        let command = ProofLength.command(seed: recording.seed, test: "PowerCutTests", case: "\(found)")
        Issue.record("at '\(step)': \(fault)\n\(command)")
        return false
    }
}
