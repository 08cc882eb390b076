import CFaultDisk
import Foundation
import KeychainTesting
import TestSupport
import Testing

@testable import Keychain
@testable import KeychainStorage

/// A sync fails once. What the kernel has not written then may never reach the disk: fsync(2) reports an error only once.
@Suite(.serialized) struct FailedSyncTests {
    private static let syncError: Int32 = 1034

    @Test("F1: a commit after a failed sync in a new log survives a power cut", arguments: 0..<4)
    func failedCommit(first: Int) throws {
        try expectDurable(failing: first) { world in _ = try? world.add("refused", count: 20) }
    }

    @Test("F1: a commit after a failed checkpoint of a new log survives a power cut", arguments: 0..<4)
    func failedCheckpoint(first: Int) throws {
        try expectDurable(failing: first) { world in
            // Begins the log and commits nothing.
            _ = try? world.change { _ throws(KeychainError) in throw .param }
            _ = try? world.safe.store.checkpoint()
        }
    }

    /// Runs `body` on a keychain with an empty log while the sync with number `first` fails. Then each commit is followed by a power
    /// cut that loses all that is not durable.
    private func expectDurable(failing first: Int, _ body: (World) -> Void) throws {
        let world = try World(seed: 7)
        defer { world.safe.close() }
        try world.safe.store.checkpoint()
        var model = DiskModel(
            database: [UInt8](try Data(contentsOf: URL(fileURLWithPath: world.disk.keychain))), sector: 512)
        var applied = world.disk.eventCount
        world.disk.fail(FaultDisk.Plan(kinds: fault_sync.rawValue, first: first, count: 1, code: Self.syncError))
        body(world)
        world.disk.fail(nil)
        for number in 1...3 {
            try world.add("acknowledged \(number)", count: 20)
            let expectation = try Recording.expectation(world)
            while applied < world.disk.eventCount {
                model.apply(world.disk[applied])
                applied += 1
            }
            let judge = Judge(
                expectations: [expectation], notebook: Notebook(world.notebook, at: .max), goesOn: false)
            #expect(try judge.fault(of: model.files(after: .all)) == nil)
        }
    }
}
