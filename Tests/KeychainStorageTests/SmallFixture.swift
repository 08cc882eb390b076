import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

/// The fixture of the format reduced to one item of each class, and one whose secret has overflow pages: small enough to
/// change each of its bytes.
struct SmallFixture {
    let bytes: Data
    let truth: FixtureContents
    /// The pages, counted from 0, that contain each item's row and secret.
    let places: [RowID: Set<Int>]
    /// The pages that contain rows of keys.
    let keyPages: Set<Int>
    /// The leaves of the table of items.
    let itemPages: Set<Int>

    static let made: Result<SmallFixture, any Error> = Result { try SmallFixture() }

    private init() throws {
        let fixture = try StoreFixture()
        let store = try SQLiteRecordStore.open(path: fixture.path)
        let keychain = try fixture.keychain(in: store)
        let kept = try Self.kept(FixtureContents.complete.get())
        try Self.reduce(keychain, to: kept)
        truth = try FixtureContents(keychain)
        store.close()
        try #require(Set(truth.items.keys) == kept)
        try fixture.execute(["VACUUM"])
        bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        (places, keyPages, itemPages) = try Self.places(fixture.path)
    }

    private static func kept(_ truth: FixtureContents) throws -> Set<RowID> {
        let items = truth.items.sorted { $0.key < $1.key }
        var kept: [ProtectionClass: RowID] = [:]
        for (id, value) in items where kept[value.item.protection] == nil && (value.contents?.count ?? 0) < 1000 {
            kept[value.item.protection] = id
        }
        let long = try #require(items.first { ($0.value.contents?.count ?? 0) > 4000 }?.key)
        return Set(kept.values).union([long])
    }

    private static func reduce(_ keychain: KeychainStore, to kept: Set<RowID>) throws {
        let truth = try FixtureContents(keychain)
        let others = truth.items.keys.filter { !kept.contains($0) }
        let used = Set(truth.items.filter { kept.contains($0.key) }.map(\.value.item.directory))
        try keychain.change { change throws(KeychainFault) in
            for id in others { try change.deleteItem(id) }
        }
        for (id, directory) in truth.directories where !used.contains(id) {
            guard case .service = directory.key else { continue }
            // A directory with another device's items stays.
            try? keychain.change { change throws(KeychainFault) in try change.deleteDirectory(id) }
        }
    }

    private static func places(_ path: String) throws -> ([RowID: Set<Int>], Set<Int>, Set<Int>) {
        var places: [RowID: Set<Int>] = [:]
        var (secretPages, secretRows): ([Int64: [Int]], [RowID: Int64]) = ([:], [:])
        var (keyPages, itemPages): (Set<Int>, Set<Int>) = ([], [])
        try PageScanner(path: path).forEachRow { row in
            let pages = row.pages.map { $0 - 1 }
            switch row.table {
            case "item":
                if let first = pages.first { itemPages.insert(first) }
                let id = RowID(rawValue: row.rowID ?? 0)
                if case .integer(let secretRow) = row.values[6] { secretRows[id] = secretRow }
                places[id, default: []].formUnion(pages)
            case "secret": secretPages[row.rowID ?? 0, default: []] += pages
            case "slot", "device", "class_key", "user_key", "store": keyPages.formUnion(pages)
            default: break
            }
        }
        for (id, secretRow) in secretRows { places[id]?.formUnion(secretPages[secretRow] ?? []) }
        return (places, keyPages, itemPages)
    }
}
