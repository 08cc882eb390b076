import Foundation
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite struct BusyStoreTests {
    @Test("S4, F4: a store that many write and read at once is sound, and says so")
    func sound() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        let end = ContinuousClock.now + .seconds(3)
        let done = DispatchGroup()
        for worker in 0..<12 {
            done.enter()
            Thread.detachNewThread {
                var round = 0
                while ContinuousClock.now < end {
                    Self.work(worker, on: vault, round: round)
                    round += 1
                }
                done.leave()
            }
        }
        while done.wait(timeout: .now() + 0.1) == .timedOut {
            let report = try vault.keychain.check()
            #expect(report.isSound && report.structureFaults == 0)
        }
        #expect(try vault.keychain.check().isSound && vault.isSound)
    }

    /// Adds, overwrites, reads and deletes values of several sizes.
    private static func work(_ worker: Int, on vault: StoredVault, round: Int) {
        let account = "\(worker) \(round % 10)"
        let contents = [UInt8](repeating: 1, count: [5, 100, 5000, 60_000][round % 4])
        if let added = try? vault.add(account, contents) {
            _ = try? vault.contents(account)
            guard round % 3 != 0 else { return }
            try? vault.keychain.change { change throws(KeychainError) in try change.deleteItem(added.id) }
        } else {
            try? vault.keychain.change { change throws(KeychainError) in
                let name = CanonicalName(typed: Array(account.utf8))
                guard let item = try change.item(named: name, in: vault.directory) else { return }
                try change.deleteItem(item.id)
            }
        }
    }
}
