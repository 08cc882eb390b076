import Foundation
import LinuxSupport
import SecretCrypto
import SystemPackage
import Testing

@testable import Keychain
@testable import KeychainStorage

/// The contents of single columns, damaged as a disk damages them: the indexes still find the row.
@Suite("S4: damaged columns")
struct DamagedColumnTests {
    @Test("S4: a row with damaged columns is never taken for absent, and check names it", .timeLimit(.minutes(30)))
    func columns() async throws {
        let intact = try WrongIndexes()
        let damages = try DamagedColumns.all(of: intact.scratch.keychain)
        let length = ProofLength(cases: 160)
        var cases = 0
        for number in length.spread(damages.count) where !length.isOver(after: cases) {
            let complaints = try await ColumnTrial(intact, damages[number]).complaints()
            #expect(complaints == [], "KEYCHAINFS_PROOF_SEED=\(number): \(damages[number].testDescription)")
            cases += 1
        }
        #expect(cases > 0)
        length.report("damaged columns", cases: cases)
    }

    @Test("S4: indexes are not rebuilt from a row that was damaged after its verification")
    func damagedLater() async throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let beta = try Place(of: "beta", in: wrong)
        let fixture = try wrong.opened()
        defer { fixture.close() }
        let reports = AsyncStream<IntegrityReport>.makeStream()
        let keychain = fixture.keychain
        Thread.detachNewThread {
            // The space is determined between the verification and the rebuild.
            keychain.verifyInBackground(available: { beta.damage() ? .max : 0 }) { reports.continuation.yield($0) }
        }
        var iterator = reports.stream.makeAsyncIterator()
        #expect(await iterator.next()?.repair?.failure == .decode)
        let second = await iterator.next()
        #expect(second?.findings.rows == .rowsReplaced && second?.repair == nil)
        for name in ["alpha", "beta"] { #expect(throws: KeychainFault.decode) { try fixture.contents(name) } }
    }

    /// The bytes of an item's tag in the row, not those in the index.
    private struct Place {
        private let path: String
        private let offset: Int
        private let other: Data

        init(of name: String, in wrong: WrongIndexes) throws {
            path = wrong.scratch.keychain
            let fixture = try wrong.opened()
            let found = try fixture.keychain.record(named: CanonicalName(account: .string(name)), in: wrong.directory)
            fixture.close()
            let record = try #require(found)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let seal = try #require(bytes.range(of: Data(record.metadata.nonceAndTag.bytes)))
            let tag = Data(record.tag)
            offset = try #require(bytes[..<seal.lowerBound].range(of: tag, options: .backwards)).lowerBound
            other = Data(tag.map { $0 ^ 1 })
        }

        /// Writes other bytes to the file, which may be open. Returns false if that failed.
        func damage() -> Bool {
            guard let file = try? FileDescriptor.open(FilePath(path), .writeOnly) else { return false }
            return (try? file.closeAfter { try file.writeAll(toAbsoluteOffset: Int64(offset), other) }) == other.count
        }
    }

    @Test("S4: names are looked up again after indexes were found wrong, also if they were not rebuilt")
    func names() async throws {
        let intact = try WrongIndexes()
        let trial = try ColumnTrial(intact, DamagedColumns(table: "item", row: 0, columns: ["tag"], distance: 1))
        let fixture = try SQLiteKeychainFixture(opening: trial.scratch.keychain, directory: intact.directory)
        defer { fixture.close() }
        let events = AsyncStream<String>.makeStream()
        let keychain = fixture.keychain
        Thread.detachNewThread {
            keychain.verifyInBackground(
                namesChanged: { events.continuation.yield(keychain.missesRows ? "look up" : "too early") },
                report: { events.continuation.yield($0.repair == nil ? "not rebuilt" : "rebuilt") })
        }
        var iterator = events.stream.makeAsyncIterator()
        #expect(await iterator.next() == "look up")
        #expect(await iterator.next() == "not rebuilt")
    }

    @Test("S4: check names a damaged row that no listing has, because the indexes contain its damaged columns")
    func unlisted() throws {
        let intact = try WrongIndexes()
        let damages = try DamagedColumns.all(of: intact.scratch.keychain)
        let length = ProofLength(cases: 80)
        var cases = 0
        for number in length.spread(damages.count) where !length.isOver(after: cases) {
            let trial = try ColumnTrial(intact, damages[number], changesIndexes: true)
            let fixture = try SQLiteKeychainFixture(opening: trial.scratch.keychain, directory: intact.directory)
            defer { fixture.close() }
            let complaints = try trial.check(fixture)
            #expect(complaints == [], "KEYCHAINFS_PROOF_SEED=\(number): \(damages[number].testDescription)")
            cases += 1
        }
        #expect(cases > 0)
        length.report("damaged columns in indexes", cases: cases)
    }
}

/// A keychain with damaged columns: what lookups, listings, changes, `check` and a backup must not do.
private struct ColumnTrial {
    let intact: WrongIndexes
    let scratch: TemporaryDirectory
    let damage: DamagedColumns
    let rows: Set<RowID>

    init(_ intact: WrongIndexes, _ damage: DamagedColumns, changesIndexes: Bool = false) throws {
        (self.intact, self.damage) = (intact, damage)
        scratch = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: intact.scratch.keychain, toPath: scratch.keychain)
        rows = try damage.apply(to: scratch.keychain, changesIndexes: changesIndexes)
    }

    func complaints() async throws -> [String] {
        let fixture = try SQLiteKeychainFixture(opening: scratch.keychain, directory: intact.directory)
        defer { fixture.close() }
        var complaints = try read(fixture).map { "before the scan: " + $0 }
        let report = try await fixture.verified()
        // Ciphertexts of secrets are not part of the sums.
        if damage.table != "secret", damage.columns != ["secret"] {
            if report.findings.rows == nil { complaints.append("the scan has not found it") }
            if report.repair != nil { complaints.append("the indexes were rebuilt") }
        }
        complaints += try read(fixture).map { "after the scan: " + $0 }
        complaints += try check(fixture)
        complaints += change(fixture)
        complaints += try read(fixture).map { "after changes: " + $0 }
        return try await complaints + copy(fixture)
    }

    private func find<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch KeychainFault.decode {
            return nil
        }
    }

    // MARK: Reads

    func read(_ fixture: SQLiteKeychainFixture) throws -> [String] {
        try readItems(fixture) + readDirectories(fixture)
    }

    private func readItems(_ fixture: SQLiteKeychainFixture) throws -> [String] {
        var complaints: [String] = []
        for (name, value) in intact.contents {
            guard let found = try find({ try fixture.contents(name) }) else { continue }
            if found == nil { complaints.append("\(name) is absent") }
            if let found, found != value { complaints.append("\(name) has another value") }
        }
        let unreadable = try intact.contents.keys.filter { name in try find { try fixture.contents(name) } == nil }
        if unreadable.count > (damage.table == "item" || damage.table == "secret" ? 1 : 0) {
            complaints.append("\(unreadable) cannot be read")
        }
        let listed = try find { try fixture.keychain.items(in: intact.directory, after: .none, limit: 100).count }
        if let listed, listed < intact.contents.count, !fixture.keychain.missesRows {
            complaints.append("a listing lacks an item")
        }
        return complaints
    }

    private func readDirectories(_ fixture: SQLiteKeychainFixture) throws -> [String] {
        let place = ContainerKey(itemClass: .genericPassword)
        let container = try find { try fixture.keychain.container(place) }
        if case .some(nil) = container { return ["the container is absent"] }
        var complaints: [String] = []
        for name in ["mail", "other", "empty"] {
            let found = try find {
                try fixture.keychain.directory(
                    named: CanonicalName(service: .generic(service: .string(name))), in: place)
            }
            if case .some(nil) = found { complaints.append("\(name)/ is absent") }
        }
        guard case .some(.some(let container)) = container else { return complaints }
        let listed = try find { try fixture.keychain.directories(in: container.id, after: .none, limit: 100).count }
        if let listed, listed != 3, !fixture.keychain.missesRows { complaints.append("a listing lacks a directory") }
        return complaints
    }

    // MARK: Changes

    /// Tries to create what exists already, and to remove what is not empty; changes an intact item.
    private func change(_ fixture: SQLiteKeychainFixture) -> [String] {
        var complaints: [String] = []
        func expectFailure(_ what: String, _ body: () throws -> Void) {
            do {
                try body()
                complaints.append(what)
            } catch {}
        }
        for name in intact.contents.keys {
            expectFailure("\(name) was added again") { try fixture.add(name, [1]) }
        }
        for name in ["mail", "other", "empty"] {
            expectFailure("\(name)/ was added again") { _ = try fixture.addService(name) }
        }
        for directory in [intact.directory, intact.other] {
            expectFailure("a directory was removed with its items") {
                try fixture.keychain.change { change throws(KeychainFault) in try change.deleteDirectory(directory) }
            }
        }
        if damage.table != "item", damage.table != "secret" {
            do {
                let beta = try fixture.keychain.item(
                    named: CanonicalName(account: .string("beta")), in: intact.directory)
                let item = try #require(beta)
                _ = try fixture.keychain.change { change throws(KeychainFault) in
                    try change.save(item, secret: StoredContents(bytes: intact.contents["beta"] ?? []))
                }
            } catch {
                complaints.append("an intact item cannot be changed: \(error)")
            }
        }
        return complaints
    }

    // MARK: Check and backup

    func check(_ fixture: SQLiteKeychainFixture) throws -> [String] {
        let report = try fixture.keychain.check()
        if report.isConsistent { return ["check finds nothing"] }
        let named = Set(report.damage.compactMap(\.row) + report.damagedPast)
        let isNamed =
            switch damage.table {
            case "secret": !report.damagedItems.isEmpty || !report.damagedPast.isEmpty
            default: !named.isDisjoint(with: rows)
            }
        return isNamed ? [] : ["check does not name \(rows.map(\.rawValue)): \(report)"]
    }

    private func copy(_ fixture: SQLiteKeychainFixture) async throws -> [String] {
        let path = scratch["copy"]
        try Data().write(to: URL(fileURLWithPath: path))
        do {
            _ = try fixture.store.copy(to: path) { writer throws(KeychainFault) in
                try fixture.keychain.prepareBackup(writer)
            }
        } catch {
            return error == .source(.decode) ? [] : ["backup: \(error)"]
        }
        let copy = try SQLiteKeychainFixture(opening: path, directory: intact.directory)
        defer { copy.close() }
        _ = try await copy.verified()
        return try read(copy).map { "in a backup: " + $0 }
    }
}
