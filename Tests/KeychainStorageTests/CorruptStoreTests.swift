import Foundation
import GRDB
import KeychainStorage
import SecretCrypto
import TestSupport
import Testing

@testable import Keychain

/// `Tests/StoreFormat/bad-stores.json`: edits of the fixture, and the results of the independent reader for each. This
/// program must return the same.
@Suite("S4, S6: modified stores")
struct CorruptStoreTests {
    /// An edit, and its expected result.
    struct Edit: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let sql: [String]
        let rule: String
        /// `refused`, `unlock-fails` or `opens`.
        let store: String
        /// `opens` or `refused`: an unlock that is not only an examination.
        let unlock: String
        let damagedItems: [String]
        let damagedDirectories: [String]
        /// Rows of past values; nil if the edit is not about them.
        let damagedPast: [Int64]?
        /// `sound`, `missing`, `added`, `replaced` or `unreadable`: what the digest says.
        let rows: String

        var testDescription: String { "\(rule) \(name)" }

        /// The directories of which only the Always name is damaged: `check` reports them, an unlocked reader does not.
        var directoriesWithDamagedAlwaysNames: [String] {
            switch name {
            case "sealed directory: Always columns without an Always item": ["generic-passwords/mail"]
            case "sealed directory: another Always name", "sealed directory: another Always tag":
                ["generic-passwords/classes"]
            default: name.hasPrefix("directory.always_") ? ["generic-passwords/classes"] : []
            }
        }
    }

    static let edits: [Edit] = {
        guard let data = try? Data(contentsOf: StoreFixture.folder.appendingPathComponent("bad-stores.json")) else {
            return []
        }
        return (try? JSONDecoder().decode([Edit].self, from: data)) ?? []
    }()

    /// The edits whose stores are checked, and those whose stores are repaired. All of them take 110 s of one processor, so that
    /// each landing checks a quarter and repairs an eighth.
    static let checked = sample(first: 0, step: 4)
    static let repaired = sample(first: 2, step: 8)

    private static func sample(first: Int, step: Int) -> [Edit] {
        TestLane.isComplete ? edits : stride(from: first, to: edits.count, by: step).map { edits[$0] }
    }

    @Test("there are edits, and the fixture itself is consistent")
    func prepared() throws {
        #expect(Self.edits.count >= 200)
        let fixture = try StoreFixture()
        let keychain = try fixture.opened()
        defer { keychain.store.close() }
        #expect(try keychain.check().isConsistent)
        #expect(try StoreFixture.paths.get().count > 60)
    }

    @Test("edit", arguments: checked)
    func edit(_ edit: Edit) throws {
        let fixture = try StoreFixture()
        try fixture.execute(edit.sql)
        let unlocked = try? fixture.opened(isExamination: false)
        unlocked?.store.close()
        #expect((unlocked == nil ? "refused" : "opens") == edit.unlock)
        let keychain: KeychainStore
        do {
            keychain = try fixture.opened()
        } catch let failure as StoreFixture.Failure {
            #expect(edit.store == failure.rawValue)
            return
        }
        defer { keychain.store.close() }
        #expect(edit.store == "opens")
        let report = try keychain.check()
        let paths = try StoreFixture.paths.get()
        #expect(Set(report.damagedItems.map { paths[$0] ?? "row \($0)" }) == Set(edit.damagedItems))
        let directories = Set(report.damagedDirectories.map { paths[$0] ?? "row \($0)" })
        #expect(directories == Set(edit.damagedDirectories + edit.directoriesWithDamagedAlwaysNames))
        if let damaged = edit.damagedPast { #expect(report.damagedPast.map(\.rawValue) == damaged) }
        #expect(report.rowFault?.name ?? "sound" == edit.rows)
    }

    @Test("S4: a repair leaves a consistent keychain with every item that opened", arguments: repaired)
    func repair(_ edit: Edit) throws {
        let fixture = try StoreFixture()
        try fixture.execute(edit.sql)
        // Some edits are sealed with the real keys: what opens is true.
        let truth = try? FixtureContents(fixture)
        let complaints = try DamagedFixture(fixture, truth: truth)
            .complaints(damaged: nil, refusesFields: edit.rule == "R54")
        #expect(complaints == [])
    }
}

/// A copy of the fixture of format 2, and its keys.
struct StoreFixture {
    /// The step at which opening a store failed.
    enum Failure: String, Error {
        case refused
        case unlockFails = "unlock-fails"
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../StoreFormat").standardizedFileURL
    private static let source = folder.appendingPathComponent("fixtures/format-2")

    /// The name of each row of the whole store, as the mount shows it.
    static let paths: Result<[RowID: String], any Error> = Result {
        // What is foreign to one device has a name on the other. Edits move row 101 to 1000, 182 and 102 to 2^62 and the next, and add 247.
        var paths: [RowID: String] = [:]
        for device in 1...2 {
            let fixture = try StoreFixture()
            let keychain = try fixture.opened(device: device)
            defer { keychain.store.close() }
            try collect(keychain, in: .none, prefix: "", &paths)
        }
        paths[RowID(rawValue: 247)] = "generic-passwords/unless open/added while locked"
        paths[RowID(rawValue: 1000)] = paths[RowID(rawValue: 101)]
        paths[.limit] = paths[RowID(rawValue: 182)]
        paths[RowID(rawValue: RowID.limit.rawValue + 1)] = paths[RowID(rawValue: 102)]
        return paths
    }

    /// The root key, derived once for all copies.
    private static let root: Result<[UInt8], any Error> = Result {
        let fixture = try StoreFixture()
        let store = try SQLiteRecordStore.open(path: fixture.scratch.keychain, access: .readOnly)
        defer { store.close() }
        let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
        let root = try SlotUnlock.root(passphrase: passphrase(), store: record)
        return [UInt8](copying: root.bytes)
    }

    private let scratch: TemporaryDirectory
    var path: String { scratch.keychain }

    init() throws {
        scratch = try TemporaryDirectory()
        try FileManager.default.copyItem(
            at: Self.source.appendingPathComponent("login.keychain"), to: URL(fileURLWithPath: scratch.keychain))
    }

    /// Creates a fixture from another file.
    init(bytes: Data) throws {
        scratch = try TemporaryDirectory()
        try bytes.write(to: URL(fileURLWithPath: scratch.keychain))
    }

    static let bytes: Result<Data, any Error> = Result {
        try Data(contentsOf: source.appendingPathComponent("login.keychain"))
    }

    /// Opens the same keychain in another store, unlocked on the first device.
    func keychain(in store: any RecordStore) throws -> KeychainStore {
        try KeychainStore(store: store, keys: ring(in: store)) { KeychainDate(seconds: 0) }
    }

    func ring(in store: any RecordStore) throws -> KeyRing {
        let device = try Data(contentsOf: Self.source.appendingPathComponent("device-1.key"))
        let ring = try KeyRing(
            store: ReadOnlyRecordStore(store), device: SecretBytes(copying: [UInt8](device).rawSpan),
            isExamination: true)
        try unlock(ring, store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) })
        return ring
    }

    func execute(_ sql: [String]) throws {
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.writeWithoutTransaction { db in
            for statement in sql { try db.execute(sql: statement) }
        }
        try queue.close()
    }

    /// Unlocked on one of the devices that have used it, for reading.
    ///
    /// - Parameter isExamination: Whether damaged rows of keys and a damaged header are accepted.
    func opened(device number: Int = 1, isExamination: Bool = true) throws -> KeychainStore {
        let ring: KeyRing
        let keychain: KeychainStore
        let stored: KeySnapshot
        do {
            let store = try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly)
            let device = try Data(contentsOf: Self.source.appendingPathComponent("device-\(number).key"))
            ring = try KeyRing(
                store: store, device: SecretBytes(copying: [UInt8](device).rawSpan), isExamination: isExamination)
            keychain = KeychainStore(store: store, keys: ring) { KeychainDate(seconds: 0) }
            stored = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        } catch {
            throw Failure.refused
        }
        do {
            try unlock(ring, stored)
        } catch {
            ring.store.close()
            throw Failure.unlockFails
        }
        return keychain
    }

    /// Opens the store for changes. The caller closes it.
    func openedForChanges() throws -> KeychainStore {
        let device = try Data(contentsOf: Self.source.appendingPathComponent("device-1.key"))
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        let ring = try KeyRing(store: store, device: SecretBytes(copying: [UInt8](device).rawSpan))
        try unlock(ring, store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) })
        return KeychainStore(store: store, keys: ring) { .sample }
    }

    private func unlock(_ ring: KeyRing, _ stored: KeySnapshot) throws {
        let complete = try Self.cost.get()
        guard stored.store.salt == complete.salt, stored.store.cost == complete.cost else {
            return try ring.unlock(passphrase: Self.passphrase())
        }
        let root = try Self.root.get()
        try ring.unlock(root: SecretBytes(copying: root.rawSpan), kind: .passphrase, records: stored)
    }

    private static let cost: Result<StoreRecord, any Error> = Result {
        let fixture = try StoreFixture()
        let store = try SQLiteRecordStore.open(path: fixture.scratch.keychain, access: .readOnly)
        defer { store.close() }
        return try store.read { (reader) throws(KeychainFault) in try reader.store() }
    }

    static func passphrase() throws -> SecretBytes {
        var bytes = [UInt8](try Data(contentsOf: source.appendingPathComponent("passphrase")))
        if bytes.last == 10 { bytes.removeLast() }
        return try SecretBytes(copying: bytes.rawSpan)
    }

    private static func collect(
        _ keychain: KeychainStore, in parent: RowID, prefix: String, _ paths: inout [RowID: String]
    ) throws {
        for case .available(let directory) in try keychain.directories(in: parent, after: .none, limit: 1000) {
            let path = prefix + directory.name
            paths[directory.id] = path
            try collect(keychain, in: directory.id, prefix: path + "/", &paths)
            for case .available(let item) in try keychain.items(in: directory.id, after: .none, limit: 1000) {
                paths[item.id] =
                    path + "/" + String(decoding: CanonicalName(account: item.account).bytes, as: UTF8.self)
            }
        }
    }
}

extension Directory {
    fileprivate var name: String {
        switch key {
        case .container(let scope): (scope.isSynchronizable ? "synchronizable/" : "") + scope.itemClass.folderName
        case .unsupported(let scope): scope.itemClass.folderName
        case .group(let name):
            "access-groups/" + String(decoding: CanonicalName(accessGroup: name).bytes, as: UTF8.self)
        case .service(let key): String(decoding: CanonicalName(service: key).bytes, as: UTF8.self)
        }
    }
}

extension IntegrityFault {
    fileprivate var name: String {
        switch self {
        case .rowsMissing: "missing"
        case .rowsAdded: "added"
        case .rowsReplaced: "replaced"
        case .rowsUnreadable: "unreadable"
        case .anotherCopy: "another copy"
        }
    }
}
