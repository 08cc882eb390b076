import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import TestSupport

@testable import Keychain
@testable import KeychainStorage

/// An operation on a keychain, with its result.
struct Step: Sendable {
    let name: String
    /// Whether some of it may be done and acknowledged when the rest fails.
    let isInParts: Bool
    let run: @Sendable (StoreUnderTest) throws -> Void

    init(_ name: String, isInParts: Bool = false, _ run: @escaping @Sendable (StoreUnderTest) throws -> Void) {
        self.name = name
        self.isInParts = isInParts
        self.run = run
    }
}

/// Every kind of commit, in sequence.
enum Workload {
    static let steps = items + names + classes + [group] + locking + slots + rekeys + closing

    private static let items = [
        Step("make folders") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                _ = try storeUnderTest.directory("mail", transaction)
                _ = try storeUnderTest.directory("work", transaction)
            }
        },
        Step("add a small item") { storeUnderTest in try storeUnderTest.add("small", count: 20) },
        Step("add an item without contents") { storeUnderTest in try storeUnderTest.add("empty", count: nil) },
        Step("add a longer item") { storeUnderTest in
            try storeUnderTest.add("long", count: 1000 + Int(storeUnderTest.generator.next() % 5000))
        },
        Step("add a large item") { storeUnderTest in try storeUnderTest.add("large", count: 200_000) },
        Step("overwrite a small item with 1 MiB") { storeUnderTest in
            try storeUnderTest.overwrite("small", count: 1 << 20)
        },
        Step("overwrite 1 MiB with a small value") { storeUnderTest in try storeUnderTest.overwrite("small", count: 33)
        },
        Step("empty the log") { storeUnderTest in try storeUnderTest.crashKeychain.store.checkpoint() },
        Step("overwrite after the log was emptied") { storeUnderTest in
            try storeUnderTest.overwrite("long", count: 2000)
        },
        Step("set a label") { storeUnderTest in
            try storeUnderTest.edit("small") { $0.attributes[.label] = .string("Home") }
        },
        Step("set an extended attribute") { storeUnderTest in
            try storeUnderTest.edit("long") {
                $0.extraAttributes[Array("color".utf8)] = [UInt8](repeating: 5, count: 700)
            }
        },
        Step("set times and mode") { storeUnderTest in try storeUnderTest.edit("empty") { $0.file.permissions = 0o400 }
        },
    ]

    private static let names = [
        Step("rename an item") { storeUnderTest in try storeUnderTest.edit("small") { $0.account = .string("renamed") }
        },
        Step("rename over an item") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                _ = try transaction.replace(
                    storeUnderTest.item("long", transaction), secretOf: storeUnderTest.item("renamed", transaction).id)
            }
        },
        Step("exchange two items") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                _ = try transaction.exchange(
                    storeUnderTest.item("long", transaction).id, storeUnderTest.item("empty", transaction).id)
            }
        },
        Step("move an item to another service") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                var item = try storeUnderTest.item("large", transaction)
                item.directory = try storeUnderTest.directory("work", transaction).id
                _ = try transaction.save(item)
            }
        },
        Step("make a service") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                _ = try storeUnderTest.directory("short-lived", transaction)
            }
        },
        Step("remove a service") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                try transaction.deleteDirectory(storeUnderTest.directory("short-lived", transaction).id)
            }
        },
        Step("rename a service") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                var directory = try storeUnderTest.directory("work", transaction)
                directory.key = .service(.generic(service: .string("office")))
                _ = try transaction.save(directory)
            }
        },
        Step("exchange two services") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                _ = try transaction.exchangeDirectories(
                    storeUnderTest.directory("mail", transaction).id, storeUnderTest.directory("office", transaction).id
                )
            }
        },
        Step("exchange them back") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                _ = try transaction.exchangeDirectories(
                    storeUnderTest.directory("mail", transaction).id, storeUnderTest.directory("office", transaction).id
                )
            }
        },
        Step("make an access group") { storeUnderTest in
            let key = ContainerKey(itemClass: .internetPassword, accessGroup: Array("team".utf8))
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                try transaction.setDefault(.afterFirstUnlock, of: key, file: .sample)
            }
        },
        Step("remove an item") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                try transaction.deleteItem(storeUnderTest.item("empty", transaction).id)
            }
        },
    ]

    private static let classes =
        [
            Step("add an item to change its class") { storeUnderTest in
                try storeUnderTest.add("classy", count: 300)
            }
        ]
        + ProtectionClass.allCases.map { protection in
            Step("change a class to \(protection.suffix)") { storeUnderTest in
                try storeUnderTest.edit("classy") { $0.protection = protection }
            }
        }

    /// Four concurrent writes: one fails in its middle, the others share a transaction.
    private static let group = Step("add by several threads at once", isInParts: true) { storeUnderTest in
        let gate = try storeUnderTest.crashKeychain.store.current().gate
        let isFirst = Atomic(true)
        let pending = Atomic(4)
        nonisolated(unsafe) let storeUnderTest = storeUnderTest
        var found = onThreads(4) { (number) throws(KeychainFault) in
            defer { pending.subtract(1, ordering: .relaxed) }
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                // Until the others wait: without them it would be committed alone.
                let waits = isFirst.exchange(false, ordering: .relaxed)
                let deadline = ContinuousClock.now + .seconds(20)
                while waits, gate.pendingWriteCount < pending.load(ordering: .relaxed) - 1,
                    ContinuousClock.now < deadline
                {
                    usleep(200)
                }
                let contents = Contents(900 * number, of: UInt8(number))
                try storeUnderTest.add("member \(number)", to: "mail", contents, .whenUnlocked, transaction)
                if number == 2 { throw .param }
            }
        }
        guard found.removeValue(forKey: 2) != nil else { throw KeychainFault.notAvailable }
        if let other = found.values.first { throw other }
    }

    /// The error of each of `count` threads, by its number. Uses separate threads, because Dispatch has no more than
    /// processors.
    private static func onThreads(
        _ count: Int, _ body: @escaping @Sendable (Int) throws(KeychainFault) -> Void
    ) -> [Int: KeychainFault] {
        let outcomes = Mutex<[Int: KeychainFault]>([:])
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                do throws(KeychainFault) {
                    try body(number)
                } catch {
                    outcomes.withLock { $0[number] = error }
                }
                group.leave()
            }
        }
        group.wait()
        return outcomes.withLock { $0 }
    }

    private static let locking = [
        Step("lock") { storeUnderTest in
            storeUnderTest.keychain.lock()
            let failures = storeUnderTest.disk.failureCount
            let deadline = ContinuousClock.now + .seconds(5)
            while storeUnderTest.crashKeychain.store.logBytes > 0, storeUnderTest.disk.failureCount == failures,
                ContinuousClock.now < deadline
            {
                usleep(500)
            }
        },
        Step("add an item while locked") { storeUnderTest in
            try storeUnderTest.add("dropped", count: 500, .whenUnlockedUnlessOpen)
        },
        Step("unlock") { storeUnderTest in try storeUnderTest.crashKeychain.unlock(storeUnderTest.opener) },
        Step("seal anew what was added while locked") { storeUnderTest in
            while let page = try storeUnderTest.keychain.rewrapPage(after: .none), page.count > 0 {}
        },
    ]

    private static let slots = [
        Step("add a key file") { storeUnderTest in
            _ = try storeUnderTest.keychain.addSlot(Opener.keyFile.secret(), authorizedBy: storeUnderTest.root())
        },
        Step("change the passphrase") { storeUnderTest in
            _ = try storeUnderTest.keychain.changeSlot(
                1, to: Opener.otherPassphrase.secret(), authorizedBy: storeUnderTest.root())
            storeUnderTest.opener = .otherPassphrase
        },
        Step("write under the new keys") { storeUnderTest in try storeUnderTest.add("after the change", count: 40)
        },
        Step("add a passphrase") { storeUnderTest in
            _ = try storeUnderTest.keychain.addSlot(Opener.passphrase.secret(), authorizedBy: storeUnderTest.root())
        },
        Step("remove the key file") { storeUnderTest in
            _ = try storeUnderTest.keychain.removeSlot(2, authorizedBy: storeUnderTest.root())
        },
    ]

    private static let rekeys = [
        Step("begin a rekey") { storeUnderTest in
            let secret = try storeUnderTest.opener.secret()
            try storeUnderTest.keychain.startRekey { () throws(KeychainFault) in
                try storeUnderTest.keychain.keys.userKey(with: secret)
            }
        },
        Step("rekey") { storeUnderTest in try storeUnderTest.keychain.rekey() },
    ]

    private static let closing = [
        Step("close and open") { storeUnderTest in try storeUnderTest.reopen() },
        Step("add to what was opened again") { storeUnderTest in try storeUnderTest.add("late", count: 77) },
        Step("make a backup") { storeUnderTest in try storeUnderTest.backUp() },
        Step("close and open again") { storeUnderTest in try storeUnderTest.reopen() },
        Step("remove at the end") { storeUnderTest in
            try storeUnderTest.change { (transaction) throws(KeychainFault) in
                try transaction.deleteItem(storeUnderTest.item("late", transaction).id)
            }
        },
        Step("close") { storeUnderTest in storeUnderTest.crashKeychain.compact() },
    ]
}

extension StoreUnderTest {
    func root() throws(KeychainFault) -> SlotRootKey { try crashKeychain.ring.root(of: opener.secret()) }

    /// Creates a copy and deletes it again.
    func backUp() throws {
        let copy = disk.path + "/copy"
        try Data().write(to: URL(fileURLWithPath: copy))
        defer { for end in ["", "-wal", "-journal"] { try? FileManager.default.removeItem(atPath: copy + end) } }
        _ = try crashKeychain.store.copy(to: copy) { (copy) throws(KeychainFault) in try keychain.prepareBackup(copy) }
    }
}
