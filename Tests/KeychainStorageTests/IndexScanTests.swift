import Foundation
import GRDB
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Rows and indexes that differ are found and repaired from the rows.
@Suite("S2, L1: indexes that differ from the rows")
struct IndexScanTests {
    static let edits = StoreIndex.all.flatMap { index in
        WrongIndexes.Edit.allCases.map { (index, $0) }
    }

    @Test("S2: a keychain whose indexes are right is found sound, by pages of any size")
    func sound() throws {
        let vault = try WrongIndexes().opened()
        defer { vault.close() }
        for pageSize in [1, 2, 3, 1024] {
            var scan = IndexScan(pageSize: pageSize)
            var steps = 0
            while !scan.hasEnded {
                try vault.store.read { reader throws(KeychainError) in try scan.step(reader) }
                steps += 1
                try #require(steps < 1000)
            }
            #expect(scan.findings == IndexFindings())
        }
        #expect(try vault.isSound)
    }

    @Test("S2: one wrong entry of any index is reported by check and backup", arguments: edits)
    func reported(_ index: StoreIndex, _ edit: WrongIndexes.Edit) throws {
        let wrong = try WrongIndexes()
        try wrong.make(edit, of: index)
        let vault = try wrong.opened()
        defer { vault.close() }
        for pageSize in [1, 1024] {
            var scan = IndexScan(pageSize: pageSize)
            while !scan.hasEnded { try vault.store.read { reader throws(KeychainError) in try scan.step(reader) } }
            #expect(!scan.findings.areConsistent, "\(scan.findings)")
        }
        let report = try vault.keychain.check()
        #expect(!report.isSound)
        #expect(report.structureFaults == 0)
        let named = report.damage.filter { $0.subject == .unindexedItem || $0.subject == .unindexedDirectory }
        #expect(named.count == report.indexes.unindexedRows)
        #expect(named.allSatisfy { $0.isNamed && !$0.path.isEmpty }, "\(named)")
        if edit != .doubled { #expect(report.indexes.unindexedRows + report.indexes.wrongEntries > 0) }
        let copy = wrong.scratch["copy"]
        try Data().write(to: URL(fileURLWithPath: copy))
        let contents = try vault.store.copy(to: copy) { writer throws(KeychainError) in
            try vault.keychain.prepareBackup(writer)
        }
        #expect(!contents.areIndexesConsistent)
    }

    @Test("S2: after an unlock indexes are rebuilt, and every value is in its place", arguments: edits)
    func repaired(_ index: StoreIndex, _ edit: WrongIndexes.Edit) async throws {
        let wrong = try WrongIndexes()
        let rows = try wrong.rowCount()
        try wrong.make(edit, of: index)
        let vault = try wrong.opened()
        let report = try await vault.verified()
        #expect(report.isSound, "\(report)")
        #expect(!report.findings.indexes.areConsistent)
        #expect(report.repair == IndexRepair.Outcome())
        #expect(vault.keychain.integrity == .verified)
        for (name, contents) in wrong.contents { #expect(try vault.contents(name) == contents) }
        #expect(try vault.keychain.items(in: wrong.directory, after: .none, limit: 100).count == wrong.contents.count)
        try vault.add("later", [1])
        #expect(try vault.isSound)
        vault.close()
        #expect(try wrong.rowCount() == rows + 1)
        // What SQLite itself reports, with the schema unchanged.
        let again = try wrong.opened()
        defer { again.close() }
        #expect(try again.store.verifyStructure() == 0)
    }

    @Test("L1: while indexes miss rows, nothing is taken for absent; what is found is read, changed and removed")
    func behavior() throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let rows = try wrong.rowCount()
        let vault = try wrong.opened()
        #expect(try !vault.keychain.verifyNow().isSound)
        #expect(vault.keychain.integrity == .damaged)
        for name in ["alpha", "never"] {
            #expect(throws: KeychainError.decode) { try vault.contents(name) }
            #expect(throws: KeychainError.decode) { try vault.add(name, [1]) }
        }
        let place = ContainerKey(itemClass: .genericPassword)
        #expect(throws: KeychainError.decode) { try vault.addService("new") }
        #expect(throws: KeychainError.decode) {
            try vault.keychain.directory(named: CanonicalName(service: .generic(service: .string("new"))), in: place)
        }
        #expect(throws: KeychainError.decode) { try vault.keychain.group(named: CanonicalName(accessGroup: [65])) }
        #expect(throws: KeychainError.decode) {
            try vault.keychain.change { change throws(KeychainError) in try change.deleteDirectory(wrong.empty) }
        }
        let beta = try #require(
            try vault.keychain.item(named: CanonicalName(account: .string("beta")), in: wrong.directory))
        #expect(throws: KeychainError.decode) {
            try vault.keychain.change { change throws(KeychainError) in
                var item = beta
                item.account = .string("delta")
                _ = try change.save(item)
            }
        }
        let changed = try vault.keychain.change { change throws(KeychainError) in
            try change.save(beta, secret: StoredContents(bytes: [9]))
        }
        #expect(try vault.contents(of: changed.id) == [9])
        #expect(throws: Never.self) {
            try vault.keychain.change { change throws(KeychainError) in
                try change.deleteItem(beta.id)
                try change.touchDirectory(wrong.directory)
            }
        }
        vault.close()
        #expect(try wrong.rowCount() == rows - 1)
    }

    @Test("on a full disk indexes stay wrong, and are rebuilt after the next unlock that finds space")
    func fullDisk() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let vault = try wrong.opened()
        defer { vault.close() }
        let room = Mutex<UInt64>(0)
        let reports = AsyncStream<IntegrityReport>.makeStream()
        let keychain = vault.keychain
        Thread.detachNewThread {
            keychain.verifyInBackground(available: { room.withLock { $0 } }) { reports.continuation.yield($0) }
        }
        var iterator = reports.stream.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.repair?.failure == .diskFull)
        #expect(first?.isSound == false)
        #expect(vault.keychain.integrity == .damaged)
        #expect(throws: KeychainError.decode) { try vault.contents("alpha") }
        #expect(throws: KeychainError.decode) { try vault.add("new", [1]) }
        room.withLock { $0 = .max }
        vault.ring.lock()
        try vault.unlock()
        #expect(await iterator.next()?.isSound == true)
        #expect(try vault.contents("alpha") == wrong.contents["alpha"])
        try vault.add("new", [1])
    }

    @Test("a keychain that is opened for reading is not changed, and does not hide what an index misses")
    func readOnly() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let before = try Data(contentsOf: URL(fileURLWithPath: wrong.scratch.keychain))
        let vault = try StoredVault(opening: wrong.scratch.keychain, directory: wrong.directory, access: .readOnly)
        let report = try await vault.verified()
        #expect(report.repair?.failure == .readOnly)
        #expect(vault.keychain.missesRows)
        #expect(throws: KeychainError.decode) { try vault.contents("alpha") }
        vault.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: wrong.scratch.keychain)) == before)
    }

    @Test("S4: if a part of an index cannot be read, other look-ups work; no new name is accepted")
    func unreadableIndex() async throws {
        let wrong = try WrongIndexes()
        try wrong.overwriteRoot(of: "item_always_tag")
        let vault = try wrong.opened()
        defer { vault.close() }
        let report = try await vault.verified()
        #expect(report.findings.indexes.isIncomplete && !report.findings.indexes.hasDifferences)
        #expect(report.repair == nil)
        #expect(vault.keychain.integrity == .damaged)
        for (name, contents) in wrong.contents { #expect(try vault.contents(name) == contents) }
        #expect(try vault.contents("never") == nil)
        #expect(throws: KeychainError.decode) { try vault.add("new", [1]) }
    }

    @Test("L1: rows that cannot be searched for in the index of a listing count as missed")
    func unreadableListing() async throws {
        let wrong = try WrongIndexes()
        try wrong.overwriteRoot(of: "item_directory")
        let vault = try wrong.opened()
        defer { vault.close() }
        let report = try await vault.verified()
        #expect(report.findings.indexes.items.count == wrong.contents.count + 1)
        #expect(report.repair?.failure == .decode)
        #expect(vault.keychain.missesRows)
        for (name, contents) in wrong.contents { #expect(try vault.contents(name) == contents) }
    }

    @Test("S4: a page of an index that cannot be read does not hide what another index misses")
    func unreadableAndHidden() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        try wrong.overwriteRoot(of: "item_tag")
        let vault = try wrong.opened()
        defer { vault.close() }
        let report = try await vault.verified()
        #expect(report.findings.indexes.unindexedRows == 1)
        #expect(report.repair?.failure == .decode)
        #expect(vault.keychain.missesRows)
    }

    @Test("two items of one name keep their values: the last changed one its name, the other one gets a free name")
    func sharedItemName() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let before = try wrong.opened()
        // As before the indexes were compared.
        try before.add("alpha", Array("second".utf8))
        try before.add("alpha~2", [3])
        before.close()
        let vault = try wrong.opened()
        defer { vault.close() }
        #expect(try vault.keychain.check().sharedNames == 1)
        let report = try await vault.verified()
        #expect(report.isSound, "\(report)")
        #expect(report.repair?.renamedItems == 1)
        let values = try ["alpha", "alpha~3"].map { try vault.contents($0) }
        #expect(Set(values) == [wrong.contents["alpha"], Array("second".utf8)])
        #expect(try vault.contents("alpha~2") == [3])
        for name in ["beta", "gamma", "first"] { #expect(try vault.contents(name) == wrong.contents[name]) }
        #expect(try vault.isSound)
    }

    @Test("two directories of one name, and two containers, keep all that lies in them")
    func sharedDirectoryNames() async throws {
        let wrong = try WrongIndexes()
        let editor = IndexEditor(wrong.scratch.keychain)
        try editor.edit("directory_tag", "DELETE FROM entries")
        let before = try wrong.opened()
        let twin = try before.addService("mail")
        #expect(twin != wrong.directory)
        _ = try before.add("delta", .whenUnlocked, in: twin)
        before.close()
        let vault = try wrong.opened()
        defer { vault.close() }
        let report = try await vault.verified()
        #expect(report.isSound, "\(report)")
        #expect(report.repair?.renamedDirectories == 1)
        let place = ContainerKey(itemClass: .genericPassword)
        let rows = try ["mail", "mail~2"].map { name in
            try vault.keychain.directory(named: CanonicalName(service: .generic(service: .string(name))), in: place)?.id
        }
        #expect(Set(rows) == [wrong.directory, twin])
        for (name, contents) in wrong.contents { #expect(try vault.contents(name) == contents) }
        let delta = try vault.keychain.item(named: CanonicalName(account: .string("delta")), in: twin)
        #expect(try vault.contents(of: try #require(delta?.id)) == Array("secret of delta".utf8))
        let container = try #require(try vault.keychain.container(place))
        #expect(try vault.keychain.directories(in: .none, after: .none, limit: 10).count == 1)
        #expect(try vault.keychain.directories(in: container.id, after: .none, limit: 10).count == 4)
        #expect(try vault.isSound)
    }

    @Test("two access groups of one name, and two internet directories, keep all that lies in them")
    func sharedGroupNames() async throws {
        let wrong = try WrongIndexes()
        let before = try wrong.opened()
        let first = try before.addInternetService("example.org", group: "team")
        before.close()
        let rows = try wrong.rowCount()
        try IndexEditor(wrong.scratch.keychain).edit("directory_tag", "DELETE FROM entries")
        let between = try wrong.opened()
        // The second group with a container, a directory and an item; then the default group's container again.
        let second = try between.addInternetService("example.org", group: "team")
        between.close()
        #expect(first.directory != second.directory)
        #expect(try wrong.rowCount() == rows + 4)
        let vault = try wrong.opened()
        defer { vault.close() }
        let report = try await vault.verified()
        #expect(report.isSound, "\(report)")
        #expect(report.repair?.renamedDirectories == 1)
        let service = CanonicalName(service: .internet(InternetService(server: .string("example.org"))))
        let found = try ["team", "team~2"].map { group in
            let place = ContainerKey(itemClass: .internetPassword, accessGroup: Array(group.utf8))
            return try vault.keychain.directory(named: service, in: place)?.id
        }
        #expect(Set(found) == [first.directory, second.directory])
        for added in [first, second] {
            let name = CanonicalName(account: .string("alice"))
            let item = try vault.keychain.item(named: name, in: added.directory)
            #expect(item?.id == added.item)
            #expect(try vault.contents(of: added.item) == Array("secret of alice".utf8))
        }
        #expect(try vault.isSound)
    }

    @Test("two internet directories of one name get separate servers")
    func sharedServers() async throws {
        let wrong = try WrongIndexes()
        let before = try wrong.opened()
        let first = try before.addInternetService("example.org")
        let place = ContainerKey(itemClass: .internetPassword)
        let key = ServiceKey.internet(InternetService(server: .string("example.org")))
        let tag = try before.ring.directoryTag(key, in: place)
        before.close()
        try IndexEditor(wrong.scratch.keychain).edit("directory_tag", "DELETE FROM entries WHERE key = ?", [Data(tag)])
        let between = try wrong.opened()
        let second = try between.addInternetService("example.org")
        between.close()
        let vault = try wrong.opened()
        defer { vault.close() }
        #expect(try await vault.verified().isSound)
        let found = try ["example.org", "example.org~2"].map { server in
            let name = CanonicalName(service: .internet(InternetService(server: .string(server))))
            return try vault.keychain.directory(named: name, in: place)?.id
        }
        #expect(Set(found) == [first.directory, second.directory])
        #expect(try vault.isSound)
    }

    @Test("a new name waits for the indexes, not longer than a second; without a worker it does not wait")
    func waiting() async throws {
        let wrong = try WrongIndexes()
        let vault = try wrong.opened()
        defer { vault.close() }
        let start = ContinuousClock.now
        vault.keychain.awaitIndexes()
        #expect(!vault.keychain.areIndexesAwaited)
        #expect(ContinuousClock.now - start < .milliseconds(500))
        let verification = Verification(of: SharedIndexTrust())
        verification.unlocked()
        Thread.detachNewThread { _ = verification.begin() }
        while verification.integrity != .verifying { try await Task.sleep(for: .milliseconds(1)) }
        let waited = ContinuousClock.now
        verification.awaitIndexes()
        #expect(ContinuousClock.now - waited >= .milliseconds(900))
        // One second for all.
        let again = ContinuousClock.now
        verification.awaitIndexes()
        #expect(ContinuousClock.now - again < .milliseconds(500))
        // The next verification is waited for again.
        verification.interrupt()
        verification.unlocked()
        let next = ContinuousClock.now
        verification.awaitIndexes()
        #expect(ContinuousClock.now - next >= .milliseconds(900))
    }
}
