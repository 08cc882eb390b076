import CFaultVFS
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
        try expectDurable(failing: first) { storeUnderTest in _ = try? storeUnderTest.add("refused", count: 20) }
    }

    @Test("F1: a commit after a failed checkpoint of a new log survives a power cut", arguments: 0..<4)
    func failedCheckpoint(first: Int) throws {
        try expectDurable(failing: first) { storeUnderTest in
            // Begins the log and commits nothing.
            _ = try? storeUnderTest.change { _ throws(KeychainFault) in throw .param }
            _ = try? storeUnderTest.crashKeychain.store.checkpoint()
        }
    }

    /// Runs `body` on a keychain with an empty log while the sync with number `first` fails. Then each commit is followed by a power
    /// cut that loses all that is not durable.
    private func expectDurable(failing first: Int, _ body: (StoreUnderTest) -> Void) throws {
        let storeUnderTest = try StoreUnderTest(seed: 7)
        defer { storeUnderTest.crashKeychain.close() }
        try storeUnderTest.crashKeychain.store.checkpoint()
        var model = DiskModel(
            database: [UInt8](try Data(contentsOf: URL(fileURLWithPath: storeUnderTest.disk.keychain))), sector: 512)
        var applied = storeUnderTest.disk.eventCount
        storeUnderTest.disk.fail(
            FaultDisk.Plan(kinds: fault_sync.rawValue, first: first, count: 1, code: Self.syncError))
        body(storeUnderTest)
        storeUnderTest.disk.fail(nil)
        for number in 1...3 {
            try storeUnderTest.add("acknowledged \(number)", count: 20)
            let expectation = try Recording.expectation(storeUnderTest)
            while applied < storeUnderTest.disk.eventCount {
                model.apply(storeUnderTest.disk[applied])
                applied += 1
            }
            let oracle = CrashOracle(
                expectations: [expectation], deviceState: DeviceStateStub(storeUnderTest.deviceState, at: .max),
                continues: false)
            #expect(try oracle.fault(of: model.files(after: .all)) == nil)
        }
    }
}
