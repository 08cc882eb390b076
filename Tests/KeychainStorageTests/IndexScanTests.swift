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

    @Test("S2: a keychain with correct indexes is reported as consistent, by pages of any size")
    func consistent() throws {
        let fixture = try WrongIndexes().opened()
        defer { fixture.close() }
        for pageSize in [1, 2, 3, 1024] {
            var scan = IndexScan(pageSize: pageSize)
            var steps = 0
            while !scan.hasEnded {
                try fixture.store.read { reader throws(KeychainFault) in try scan.step(reader) }
                steps += 1
                try #require(steps < 1000)
            }
            #expect(scan.findings == IndexFindings())
        }
        #expect(try fixture.isConsistent)
    }

    @Test("S2: one wrong entry of any index is reported by check and backup", arguments: edits)
    func reported(_ index: StoreIndex, _ edit: WrongIndexes.Edit) throws {
        let wrong = try WrongIndexes()
        try wrong.make(edit, of: index)
        let fixture = try wrong.opened()
        defer { fixture.close() }
        for pageSize in [1, 1024] {
            var scan = IndexScan(pageSize: pageSize)
            while !scan.hasEnded { try fixture.store.read { reader throws(KeychainFault) in try scan.step(reader) } }
            #expect(!scan.findings.areConsistent, "\(scan.findings)")
        }
        let report = try fixture.keychain.check()
        #expect(!report.isConsistent)
        #expect(report.structureFaults == 0)
        let named = report.damage.filter { $0.subject == .unindexedItem || $0.subject == .unindexedDirectory }
        let isNamed = index.table == "item" || index.table == "directory"
        #expect(named.count == (isNamed ? report.indexes.unindexedRows : 0))
        #expect(named.allSatisfy { $0.isNamed && !$0.path.isEmpty }, "\(named)")
        if edit != .doubled { #expect(report.indexes.unindexedRows + report.indexes.wrongEntries > 0) }
        let copy = wrong.scratch["copy"]
        try Data().write(to: URL(fileURLWithPath: copy))
        let contents = try fixture.store.copy(to: copy) { writer throws(KeychainFault) in
            try fixture.keychain.prepareBackup(writer)
        }
        #expect(!contents.areIndexesConsistent)
    }

    @Test("S2: after an unlock indexes are rebuilt, and every value is found", arguments: edits)
    func repaired(_ index: StoreIndex, _ edit: WrongIndexes.Edit) async throws {
        let wrong = try WrongIndexes()
        let rows = try wrong.rowCount()
        try wrong.make(edit, of: index)
        let fixture = try wrong.opened()
        let report = try await fixture.verified()
        #expect(report.isConsistent, "\(report)")
        #expect(!report.findings.indexes.areConsistent)
        #expect(report.repair == IndexRepair.Outcome())
        #expect(fixture.keychain.integrity == .verified)
        for (name, contents) in wrong.contents { #expect(try fixture.contents(name) == contents) }
        #expect(try fixture.keychain.items(in: wrong.directory, after: .none, limit: 100).count == wrong.contents.count)
        try fixture.add("later", [1])
        #expect(try fixture.isConsistent)
        fixture.close()
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
        let fixture = try wrong.opened()
        #expect(try !fixture.keychain.verifyNow().isConsistent)
        #expect(fixture.keychain.integrity == .damaged)
        for name in ["alpha", "never"] {
            #expect(throws: KeychainFault.decode) { try fixture.contents(name) }
            #expect(throws: KeychainFault.decode) { try fixture.add(name, [1]) }
        }
        let place = ContainerKey(itemClass: .genericPassword)
        #expect(throws: KeychainFault.decode) { try fixture.addService("new") }
        #expect(throws: KeychainFault.decode) {
            try fixture.keychain.directory(named: CanonicalName(service: .generic(service: .string("new"))), in: place)
        }
        #expect(throws: KeychainFault.decode) { try fixture.keychain.group(named: CanonicalName(accessGroup: [65])) }
        #expect(throws: KeychainFault.decode) {
            try fixture.keychain.change { change throws(KeychainFault) in try change.deleteDirectory(wrong.empty) }
        }
        let beta = try #require(
            try fixture.keychain.item(named: CanonicalName(account: .string("beta")), in: wrong.directory))
        #expect(throws: KeychainFault.decode) {
            try fixture.keychain.change { change throws(KeychainFault) in
                var item = beta
                item.account = .string("delta")
                _ = try change.save(item)
            }
        }
        let changed = try fixture.keychain.change { change throws(KeychainFault) in
            try change.save(beta, secret: StoredContents(bytes: [9]))
        }
        #expect(try fixture.contents(of: changed.id) == [9])
        #expect(throws: Never.self) {
            try fixture.keychain.change { change throws(KeychainFault) in
                try change.deleteItem(beta.id)
                try change.touchDirectory(wrong.directory)
            }
        }
        fixture.close()
        #expect(try wrong.rowCount() == rows - 1)
    }

    @Test("on a full disk indexes stay wrong, and are rebuilt after the next unlock that finds space")
    func fullDisk() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let freeBytes = Mutex<UInt64>(0)
        let reports = AsyncStream<IntegrityReport>.makeStream()
        let keychain = fixture.keychain
        Thread.detachNewThread {
            keychain.verifyInBackground(available: { freeBytes.withLock { $0 } }) { reports.continuation.yield($0) }
        }
        var iterator = reports.stream.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.repair?.failure == .diskFull)
        #expect(first?.isConsistent == false)
        #expect(fixture.keychain.integrity == .damaged)
        #expect(throws: KeychainFault.decode) { try fixture.contents("alpha") }
        #expect(throws: KeychainFault.decode) { try fixture.add("new", [1]) }
        freeBytes.withLock { $0 = .max }
        fixture.ring.lock()
        try fixture.unlock()
        #expect(await iterator.next()?.isConsistent == true)
        #expect(try fixture.contents("alpha") == wrong.contents["alpha"])
        try fixture.add("new", [1])
    }

    @Test("a keychain that is opened for reading is not changed, and does not hide what an index misses")
    func readOnly() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let before = try Data(contentsOf: URL(fileURLWithPath: wrong.scratch.keychain))
        let fixture = try SQLiteKeychainFixture(
            opening: wrong.scratch.keychain, directory: wrong.directory, access: .readOnly)
        let report = try await fixture.verified()
        #expect(report.repair?.failure == .readOnly)
        #expect(fixture.keychain.missesRows)
        #expect(throws: KeychainFault.decode) { try fixture.contents("alpha") }
        fixture.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: wrong.scratch.keychain)) == before)
    }

    @Test("S4: if a part of an index cannot be read, other look-ups work; no new name is accepted")
    func unreadableIndex() async throws {
        let wrong = try WrongIndexes()
        try wrong.overwriteRoot(of: "item_always_tag")
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let report = try await fixture.verified()
        #expect(report.findings.indexes.isIncomplete && !report.findings.indexes.hasDifferences)
        #expect(report.repair == nil)
        #expect(fixture.keychain.integrity == .damaged)
        for (name, contents) in wrong.contents { #expect(try fixture.contents(name) == contents) }
        #expect(try fixture.contents("never") == nil)
        #expect(throws: KeychainFault.decode) { try fixture.add("new", [1]) }
    }

    @Test("L1: rows that cannot be searched for in the index of a listing count as missed")
    func unreadableListing() async throws {
        let wrong = try WrongIndexes()
        try wrong.overwriteRoot(of: "item_directory")
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let report = try await fixture.verified()
        #expect(report.findings.indexes.items.count == wrong.contents.count + 3)
        #expect(report.repair?.failure == .decode)
        #expect(fixture.keychain.missesRows)
        for (name, contents) in wrong.contents { #expect(try fixture.contents(name) == contents) }
    }

    @Test("S4: a page of an index that cannot be read does not hide what another index misses")
    func unreadableAndHidden() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        try wrong.overwriteRoot(of: "item_tag")
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let report = try await fixture.verified()
        #expect(report.findings.indexes.unindexedRows == 1)
        #expect(report.repair?.failure == .decode)
        #expect(fixture.keychain.missesRows)
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
        let fixture = try wrong.opened()
        defer { fixture.close() }
        #expect(try fixture.keychain.check().sharedNames == 1)
        let report = try await fixture.verified()
        #expect(report.isConsistent, "\(report)")
        #expect(report.repair?.renamedItems == 1)
        let values = try ["alpha", "alpha~3"].map { try fixture.contents($0) }
        #expect(Set(values) == [wrong.contents["alpha"], Array("second".utf8)])
        #expect(try fixture.contents("alpha~2") == [3])
        for name in ["beta", "gamma", "first"] { #expect(try fixture.contents(name) == wrong.contents[name]) }
        #expect(try fixture.isConsistent)
    }

    @Test("two directories of one name, and two containers, keep all their contents")
    func sharedDirectoryNames() async throws {
        let wrong = try WrongIndexes()
        let editor = IndexEditor(wrong.scratch.keychain)
        try editor.edit("directory_tag", "DELETE FROM entries")
        let before = try wrong.opened()
        let twin = try before.addService("mail")
        #expect(twin != wrong.directory)
        _ = try before.add("delta", .whenUnlocked, in: twin)
        before.close()
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let report = try await fixture.verified()
        #expect(report.isConsistent, "\(report)")
        #expect(report.repair?.renamedDirectories == 1)
        let place = ContainerKey(itemClass: .genericPassword)
        let rows = try ["mail", "mail~2"].map { name in
            try fixture.keychain.directory(named: CanonicalName(service: .generic(service: .string(name))), in: place)?
                .id
        }
        #expect(Set(rows) == [wrong.directory, twin])
        for (name, contents) in wrong.contents { #expect(try fixture.contents(name) == contents) }
        let delta = try fixture.keychain.item(named: CanonicalName(account: .string("delta")), in: twin)
        #expect(try fixture.contents(of: try #require(delta?.id)) == Array("secret of delta".utf8))
        let container = try #require(try fixture.keychain.container(place))
        #expect(try fixture.keychain.directories(in: .none, after: .none, limit: 10).count == 2)
        #expect(try fixture.keychain.directories(in: container.id, after: .none, limit: 10).count == 4)
        #expect(try fixture.isConsistent)
    }

    @Test("two access groups of one name, and two internet directories, keep all their contents")
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
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let report = try await fixture.verified()
        #expect(report.isConsistent, "\(report)")
        #expect(report.repair?.renamedDirectories == 1)
        let service = CanonicalName(service: .internet(InternetService(server: .string("example.org"))))
        let found = try ["team", "team~2"].map { group in
            let place = ContainerKey(itemClass: .internetPassword, accessGroup: Array(group.utf8))
            return try fixture.keychain.directory(named: service, in: place)?.id
        }
        #expect(Set(found) == [first.directory, second.directory])
        for added in [first, second] {
            let name = CanonicalName(account: .string("alice"))
            let item = try fixture.keychain.item(named: name, in: added.directory)
            #expect(item?.id == added.item)
            #expect(try fixture.contents(of: added.item) == Array("secret of alice".utf8))
        }
        #expect(try fixture.isConsistent)
    }

    @Test("two internet directories of one name get separate servers")
    func sharedServers() async throws {
        let wrong = try WrongIndexes()
        let before = try wrong.opened()
        let first = try before.addInternetService("example.org")
        let key = ServiceKey.internet(InternetService(server: .string("example.org")))
        let parent = try #require(try before.keychain.directory(id: first.directory)).parent
        let tag = try before.ring.directoryTag(DirectoryName(.service(key)), in: parent)
        before.close()
        try IndexEditor(wrong.scratch.keychain).edit("directory_tag", "DELETE FROM entries WHERE key = ?", [Data(tag)])
        let between = try wrong.opened()
        let second = try between.addInternetService("example.org")
        between.close()
        let fixture = try wrong.opened()
        defer { fixture.close() }
        #expect(try await fixture.verified().isConsistent)
        let found = try ["example.org", "example.org~2"].map { server in
            let name = CanonicalName(service: .internet(InternetService(server: .string(server))))
            return try fixture.keychain.directory(named: name, in: ContainerKey(itemClass: .internetPassword))?.id
        }
        #expect(Set(found) == [first.directory, second.directory])
        #expect(try fixture.isConsistent)
    }

    @Test("a new name waits for the indexes, not longer than a second; without a worker it does not wait")
    func waiting() async throws {
        let wrong = try WrongIndexes()
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let start = ContinuousClock.now
        fixture.keychain.awaitIndexes()
        #expect(!fixture.keychain.areIndexesAwaited)
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

    @Test("L1: a new name waits for a rebuild of wrong indexes, also longer than a second")
    func waitingForRebuild() async throws {
        let verification = Verification(of: SharedIndexTrust())
        verification.unlocked()
        Thread.detachNewThread { _ = verification.begin() }
        while verification.integrity != .verifying { try await Task.sleep(for: .milliseconds(1)) }
        Thread.detachNewThread {
            usleep(50_000)
            verification.finishIndexes(.rebuilding)
            usleep(1_200_000)
            verification.finishIndexes(.consistent)
        }
        verification.awaitIndexes()
        #expect(verification.indexes.value == .consistent)
        #expect(!verification.hasWaiters)
    }
}
