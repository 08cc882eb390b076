import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import TestSupport

@testable import Keychain
@testable import KeychainStorage

/// Something that somebody does to a keychain, and that has an answer.
struct Step: Sendable {
    let name: String
    /// Whether some of it may be done and acknowledged when the rest fails.
    let isInParts: Bool
    let run: @Sendable (World) throws -> Void

    init(_ name: String, isInParts: Bool = false, _ run: @escaping @Sendable (World) throws -> Void) {
        self.name = name
        self.isInParts = isInParts
        self.run = run
    }
}

/// Every kind of commit that there is, one after the other.
enum Workload {
    static let steps = items + names + classes + [group] + locking + slots + rekeys + closing

    private static let items = [
        Step("make folders") { world in
            try world.change { (change) throws(KeychainError) in
                _ = try world.directory("mail", change)
                _ = try world.directory("work", change)
            }
        },
        Step("add a small item") { world in try world.add("small", count: 20) },
        Step("add an item without contents") { world in try world.add("empty", count: nil) },
        Step("add a longer item") { world in try world.add("long", count: 1000 + Int(world.generator.next() % 5000)) },
        Step("add a large item") { world in try world.add("large", count: 200_000) },
        Step("overwrite a small item with 1 MiB") { world in try world.overwrite("small", count: 1 << 20) },
        Step("overwrite 1 MiB with a small value") { world in try world.overwrite("small", count: 33) },
        Step("empty the log") { world in try world.safe.store.checkpoint() },
        Step("overwrite after the log was emptied") { world in try world.overwrite("long", count: 2000) },
        Step("set a label") { world in try world.edit("small") { $0.attributes[.label] = .string("Home") } },
        Step("set an extended attribute") { world in
            try world.edit("long") { $0.extraAttributes[Array("color".utf8)] = [UInt8](repeating: 5, count: 700) }
        },
        Step("set times and mode") { world in try world.edit("empty") { $0.file.permissions = 0o400 } },
    ]

    private static let names = [
        Step("rename an item") { world in try world.edit("small") { $0.account = .string("renamed") } },
        Step("rename over an item") { world in
            try world.change { (change) throws(KeychainError) in
                _ = try change.replace(world.item("long", change), secretOf: world.item("renamed", change).id)
            }
        },
        Step("exchange two items") { world in
            try world.change { (change) throws(KeychainError) in
                _ = try change.exchange(world.item("long", change).id, world.item("empty", change).id)
            }
        },
        Step("move an item to another service") { world in
            try world.change { (change) throws(KeychainError) in
                var item = try world.item("large", change)
                item.directory = try world.directory("work", change).id
                _ = try change.save(item)
            }
        },
        Step("make a service") { world in
            try world.change { (change) throws(KeychainError) in _ = try world.directory("short-lived", change) }
        },
        Step("remove a service") { world in
            try world.change { (change) throws(KeychainError) in
                try change.deleteDirectory(world.directory("short-lived", change).id)
            }
        },
        Step("rename a service") { world in
            try world.change { (change) throws(KeychainError) in
                var directory = try world.directory("work", change)
                directory.key = .service(.generic(service: .string("office")))
                _ = try change.save(directory)
            }
        },
        Step("exchange two services") { world in
            try world.change { (change) throws(KeychainError) in
                _ = try change.exchangeDirectories(
                    world.directory("mail", change).id, world.directory("office", change).id)
            }
        },
        Step("exchange them back") { world in
            try world.change { (change) throws(KeychainError) in
                _ = try change.exchangeDirectories(
                    world.directory("mail", change).id, world.directory("office", change).id)
            }
        },
        Step("make an access group") { world in
            let key = ContainerKey(itemClass: .internetPassword, accessGroup: Array("team".utf8))
            try world.change { (change) throws(KeychainError) in
                try change.setDefault(.afterFirstUnlock, of: key, file: .sample)
            }
        },
        Step("remove an item") { world in
            try world.change { (change) throws(KeychainError) in try change.deleteItem(world.item("empty", change).id) }
        },
    ]

    private static let classes =
        [Step("add an item to change its class") { world in try world.add("classy", count: 300) }]
        + Protection.allCases.map { protection in
            Step("change a class to \(protection.suffix)") { world in
                try world.edit("classy") { $0.protection = protection }
            }
        }

    /// One of four fails in the middle; the others share a transaction.
    private static let group = Step("add by several threads at once", isInParts: true) { world in
        let gate = try world.safe.store.current().gate
        let isFirst = Atomic(true)
        let pending = Atomic(4)
        nonisolated(unsafe) let world = world
        var found = onThreads(4) { (number) throws(KeychainError) in
            defer { pending.subtract(1, ordering: .relaxed) }
            try world.change { (change) throws(KeychainError) in
                // Until the others wait: without them it would be committed alone.
                let waits = isFirst.exchange(false, ordering: .relaxed)
                let deadline = ContinuousClock.now + .seconds(20)
                while waits, gate.partCount < pending.load(ordering: .relaxed) - 1, ContinuousClock.now < deadline {
                    usleep(200)
                }
                let contents = Contents(900 * number, of: UInt8(number))
                try world.add("member \(number)", to: "mail", contents, .whenUnlocked, change)
                if number == 2 { throw .param }
            }
        }
        guard found.removeValue(forKey: 2) != nil else { throw KeychainError.notAvailable }
        if let other = found.values.first { throw other }
    }

    /// What each of so many threads has thrown, by its number. Threads of their own: Dispatch has no more than processors.
    private static func onThreads(
        _ count: Int, _ body: @escaping @Sendable (Int) throws(KeychainError) -> Void
    ) -> [Int: KeychainError] {
        let outcomes = Mutex<[Int: KeychainError]>([:])
        let group = DispatchGroup()
        for number in 0..<count {
            group.enter()
            Thread.detachNewThread {
                do throws(KeychainError) {
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
        Step("lock") { world in
            world.keychain.lock()
            let failures = world.disk.failureCount
            let deadline = ContinuousClock.now + .seconds(5)
            while world.safe.store.logBytes > 0, world.disk.failureCount == failures, ContinuousClock.now < deadline {
                usleep(500)
            }
        },
        Step("add an item while locked") { world in
            try world.add("dropped", count: 500, .whenUnlockedUnlessOpen)
        },
        Step("unlock") { world in try world.safe.unlock(world.opener) },
        Step("seal anew what was added while locked") { world in
            while let page = try world.keychain.rewrapPage(after: .none), page.count > 0 {}
        },
    ]

    private static let slots = [
        Step("add a key file") { world in
            _ = try world.keychain.addSlot(Opener.keyFile.secret(), authorizedBy: world.root())
        },
        Step("change the passphrase") { world in
            _ = try world.keychain.changeSlot(1, to: Opener.otherPassphrase.secret(), authorizedBy: world.root())
            world.opener = .otherPassphrase
        },
        Step("write under the new keys") { world in try world.add("after the change", count: 40) },
        Step("add a passphrase") { world in
            _ = try world.keychain.addSlot(Opener.passphrase.secret(), authorizedBy: world.root())
        },
        Step("remove the key file") { world in
            _ = try world.keychain.removeSlot(2, authorizedBy: world.root())
        },
    ]

    private static let rekeys = [
        Step("begin a rekey") { world in
            let secret = try world.opener.secret()
            try world.keychain.startRekey { () throws(KeychainError) in try world.keychain.keys.userKey(with: secret) }
        },
        Step("rekey") { world in try world.keychain.rekey() },
    ]

    private static let closing = [
        Step("close and open") { world in try world.reopen() },
        Step("add to what was opened again") { world in try world.add("late", count: 77) },
        Step("make a backup") { world in try world.backUp() },
        Step("close and open again") { world in try world.reopen() },
        Step("remove at the end") { world in
            try world.change { (change) throws(KeychainError) in try change.deleteItem(world.item("late", change).id) }
        },
        Step("close") { world in world.safe.compact() },
    ]
}

extension World {
    func root() throws(KeychainError) -> SlotRoot { try safe.ring.root(of: opener.secret()) }

    /// A copy beside it, which is gone again.
    func backUp() throws {
        let copy = disk.path + "/copy"
        try Data().write(to: URL(fileURLWithPath: copy))
        defer { for end in ["", "-wal", "-journal"] { try? FileManager.default.removeItem(atPath: copy + end) } }
        _ = try safe.store.copy(to: copy) { (copy) throws(KeychainError) in try keychain.prepareBackup(copy) }
    }
}
