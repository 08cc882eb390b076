import Foundation
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite struct BusyStoreTests {
    @Test("S4, F4: a check of a store with concurrent writers and readers reports it as consistent")
    func consistent() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let end = ContinuousClock.now + .seconds(3)
        let done = DispatchGroup()
        for worker in 0..<12 {
            done.enter()
            Thread.detachNewThread {
                var round = 0
                while ContinuousClock.now < end {
                    Self.work(worker, on: fixture, round: round)
                    round += 1
                }
                done.leave()
            }
        }
        while done.wait(timeout: .now() + 0.1) == .timedOut {
            let report = try fixture.keychain.check()
            #expect(report.isConsistent && report.structureFaults == 0)
        }
        #expect(try fixture.keychain.check().isConsistent && fixture.isConsistent)
    }

    /// Adds, overwrites, reads and deletes values of several sizes.
    private static func work(_ worker: Int, on fixture: SQLiteKeychainFixture, round: Int) {
        let account = "\(worker) \(round % 10)"
        let contents = [UInt8](repeating: 1, count: [5, 100, 5000, 60_000][round % 4])
        if let added = try? fixture.add(account, contents) {
            _ = try? fixture.contents(account)
            guard round % 3 != 0 else { return }
            try? fixture.keychain.change { change throws(KeychainFault) in try change.deleteItem(added.id) }
        } else {
            try? fixture.keychain.change { change throws(KeychainFault) in
                let name = CanonicalName(typed: Array(account.utf8))
                guard let item = try change.item(named: name, in: fixture.directory) else { return }
                try change.deleteItem(item.id)
            }
        }
    }
}
