import Foundation
import GRDB
import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainStorage

/// The contents of the fixture of format 2, row by row. No other value may ever be read.
struct FixtureContents: Sendable {
    struct Value: Hashable, Sendable {
        let item: Item
        let contents: [UInt8]?
    }

    /// The items of this device; another device's items cannot be opened.
    let items: [RowID: Value]
    let directories: [RowID: Directory]

    static let complete: Result<FixtureContents, any Error> = Result { try FixtureContents(StoreFixture()) }

    init(_ fixture: StoreFixture) throws {
        let keychain = try fixture.opened()
        defer { keychain.store.close() }
        try self.init(keychain)
    }

    /// All that opens.
    init(_ keychain: KeychainStore) throws {
        let (itemIDs, directoryIDs) = try keychain.store.read { (reader) throws(KeychainFault) in
            (
                try reader.itemIDs(after: .none, limit: 10_000),
                try reader.directoryIDs(after: .none, limit: 10_000)
            )
        }
        var items: [RowID: Value] = [:]
        for id in itemIDs { items[id] = try Self.value(id, keychain) }
        var directories: [RowID: Directory] = [:]
        for id in directoryIDs { directories[id] = try Self.readable { try keychain.directory(id: id) } }
        (self.items, self.directories) = (items, directories)
    }

    /// Returns the value of an item, or nil if it does not open. Throws all other errors.
    static func value(_ id: RowID, _ keychain: KeychainStore) throws -> Value? {
        try readable {
            guard let found = try keychain.itemWithSecret(id: id) else { return nil }
            return Value(item: found.item, contents: try found.secret?.completeContents())
        }
    }

    static func readable<Result>(_ body: () throws -> Result?) throws -> Result? {
        do {
            return try body()
        } catch KeychainFault.decode, KeychainFault.interactionNotAllowed {
            return nil
        }
    }
}

extension SealedSecret {
    /// Verified even if there is nothing to read: an empty value is sealed too, and damaged if its seal is.
    fileprivate func completeContents() throws -> [UInt8] {
        try verify()
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var output = span.mutableBytes
        _ = try read(at: 0, into: &output)
        return bytes
    }
}

/// A modified fixture: the values read, the result of `check`, and the values saved by a repair.
struct DamagedFixture {
    let fixture: StoreFixture
    let truth: FixtureContents
    /// Whether ``truth`` is what opens of this very store.
    private let isOwnTruth: Bool

    /// `truth`: what it holds; nil: what the whole fixture does.
    init(_ fixture: StoreFixture, truth: FixtureContents? = nil) throws {
        self.fixture = fixture
        self.truth = try truth ?? FixtureContents.complete.get()
        isOwnTruth = truth != nil
    }

    /// Returns descriptions of wrong results; empty without any.
    ///
    /// - Parameters:
    ///   - damaged: The items that may be missing; nil if that is unknown: then items that open before the repair must
    ///     exist after it.
    ///   - damagesKeys: Whether rows of keys may be missing, and with them the items that they open.
    ///   - older: Values that are as valid as the newest, because the test restored them.
    ///   - refusesFields: Whether items that open may be refused because of fields of another class (R54).
    func complaints(
        damaged: Set<RowID>?, damagesKeys: Bool = false, older: [RowID: FixtureContents.Value] = [:],
        refusesFields: Bool = false
    ) throws -> [String] {
        let kept = damagesKeys ? nil : damaged.map { Set(truth.items.keys).subtracting($0) }
        let keychain: KeychainStore
        do {
            keychain = try fixture.opened()
        } catch is StoreFixture.Failure {
            // Without keys no item of it can be saved.
            return try repair(nil, kept: kept ?? [], older)
        }
        defer { keychain.store.close() }
        var complaints: [String] = []
        let readable = try read(keychain, older, &complaints)
        complaints += try check(keychain, readable)
        let refused = refusesFields ? Set(try keychain.check().damagedItems) : []
        return try complaints + repair(keychain, kept: (kept ?? []).union(readable).subtracting(refused), older)
    }

    // MARK: Reading

    /// The items that open, by row, by listing and by name; each as it was written.
    private func read(
        _ keychain: KeychainStore, _ older: [RowID: FixtureContents.Value], _ complaints: inout [String]
    ) throws -> [RowID] {
        var readable: [RowID] = []
        for (id, value) in truth.items {
            guard let found = try FixtureContents.value(id, keychain) else { continue }
            readable.append(id)
            if found != value, found != older[id] { complaints.append("row \(id.rawValue) reads as another value") }
        }
        for (id, directory) in truth.directories {
            let listed = try FixtureContents.readable { try keychain.items(in: id, after: .none, limit: 1000) } ?? []
            for case .available(let item) in listed where item != truth.items[item.id]?.item {
                // Metadata that opens while the secret does not.
                if truth.items[item.id] == nil, isOwnTruth { continue }
                if item != older[item.id]?.item { complaints.append("a listing has another item \(item.id.rawValue)") }
            }
            let listedDirectories = try FixtureContents.readable {
                try keychain.directories(in: directory.parent, after: .none, limit: 1000)
            }
            for case .available(let found) in listedDirectories ?? [] {
                guard found.key != truth.directories[found.id]?.key else { continue }
                complaints.append("a listing has another directory \(found.id.rawValue)")
            }
        }
        for (id, value) in truth.items {
            let name = CanonicalName(account: value.item.account)
            let found = try FixtureContents.readable { try keychain.item(named: name, in: value.item.directory) }
            if let found, found != value.item, found != older[id]?.item {
                complaints.append("the name of row \(id.rawValue) gives another item")
            }
        }
        return readable
    }

    /// A keychain that is reported as consistent must be complete.
    private func check(_ keychain: KeychainStore, _ readable: [RowID]) throws -> [String] {
        let report = try FixtureContents.readable { try keychain.check() }
        guard let report, report.isConsistent else { return [] }
        let missing = Set(truth.items.keys).subtracting(readable)
        return missing.isEmpty ? [] : ["check says sound, and \(missing.map(\.rawValue)) do not open"]
    }

    // MARK: Repairing

    private func repair(
        _ keychain: KeychainStore?, kept: Set<RowID>, _ older: [RowID: FixtureContents.Value]
    ) throws -> [String] {
        let scratch = try TemporaryDirectory()
        let stored = keychain?.store as? SQLiteRecordStore
        let isBroken = try stored.map { try $0.verifyStructure() > 0 } ?? true
        let salvage = isBroken ? try salvaged(to: scratch.keychain) : nil
        defer { salvage?.close() }
        guard let source = salvage ?? stored else { return ["no store"] }
        let repaired = InMemoryRecordStore()
        do {
            let keys = try fixture.ring(in: source)
            let repair = KeychainRepair(of: source, keys: keys)
            try repair.write(repair.findings(file: .sample, now: .sample), to: repaired)
        } catch KeychainFault.decode, KeychainFault.authFailed, KeychainFault.unacceptableCost,
            KeychainFault.unknownFeature
        {
            // A row that belongs to the complete keychain is damaged.
            return keychain == nil ? [] : ["what opens cannot be repaired"]
        }
        let copy = try fixture.keychain(in: repaired)
        var complaints: [String] = []
        let report = try copy.check()
        if !report.isConsistent { complaints.append("the repaired keychain is not sound: \(report)") }
        for id in kept {
            guard let value = truth.items[id] else { continue }
            let found = try FixtureContents.value(id, copy)
            if found == nil || found != value && found != older[id] {
                complaints.append("row \(id.rawValue) is \(found == nil ? "gone" : "another") after the repair")
            }
            if try !isReachable(value.item.directory, copy) {
                complaints.append("row \(id.rawValue) is in no directory after the repair")
            }
        }
        return complaints
    }

    /// From a copy, as a repair does it: the file itself is in use.
    private func salvaged(to path: String) throws -> SQLiteRecordStore {
        try Data().write(to: URL(fileURLWithPath: path))
        let source = path + ".damaged"
        for end in ["", "-wal"] where FileManager.default.fileExists(atPath: fixture.path + end) {
            try FileManager.default.copyItem(atPath: fixture.path + end, toPath: source + end)
        }
        return try SQLiteRecordStore.salvage(fileAt: source, to: path)
    }

    /// Returns whether a directory and its parents are listed.
    private func isReachable(_ id: RowID, _ keychain: KeychainStore) throws -> Bool {
        var id = id
        while id != .none {
            guard let directory = try FixtureContents.readable({ try keychain.directory(id: id) }) else { return false }
            let siblings = try keychain.directories(in: directory.parent, after: .none, limit: 1000)
            guard siblings.contains(where: { if case .available(let found) = $0 { found.id == id } else { false } })
            else { return false }
            id = directory.parent
        }
        return true
    }
}
