import Foundation
import LinuxSupport
import TestSupport

@testable import Keychain
@testable import KeychainStorage

/// A damaged copy of a keychain, with the values that may be read from it.
final class DamageTrial {
    private typealias Name = IntactKeychain.Name

    /// The description of the damage and of the operations.
    private(set) var text: String
    private(set) var hasOpened = false
    private let scratch: TemporaryDirectory
    private let mail: RowID
    private let isRepaired: Bool
    private var directories: [RowID: String]
    private var items: [Name: (row: RowID, value: [UInt8])]
    /// Items and directories whose own rows are damaged. They may be unreadable, but must never have another value.
    private var lost: Set<RowID> = []
    private var complaints: [String] = []

    init(_ complete: IntactKeychain, _ generator: inout SeededGenerator) throws {
        scratch = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: complete.scratch.keychain, toPath: scratch.keychain)
        (mail, directories, items) = (complete.mail, complete.directories, complete.items)
        isRepaired = Bool.random(using: &generator)
        let kinds = RandomDamage.allCases
        var text = isRepaired ? ["as the daemon:"] : ["without a repair:"]
        for _ in 0..<[1, 1, 2][Int.random(in: 0..<3, using: &generator)] {
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
            // A second one may find nothing that it could open.
            if let done = try? kind.apply(to: scratch.keychain, &generator) { text.append(done) }
        }
        self.text = text.joined(separator: "; ")
    }

    /// Runs the trial. Returns descriptions of wrong results; empty without any.
    func run(_ generator: inout SeededGenerator) async throws -> [String] {
        guard let fixture = try? SQLiteKeychainFixture(opening: scratch.keychain, directory: mail) else { return [] }
        defer { fixture.close() }
        hasOpened = true
        reportLostItems(fixture)
        if isRepaired { _ = try await fixture.verified() } else { _ = try? fixture.keychain.verifyNow() }
        for _ in 0..<12 {
            step(fixture, &generator)
            if !complaints.isEmpty { return complaints }
        }
        compare(fixture)
        return complaints
    }

    private func reportLostItems(_ fixture: SQLiteKeychainFixture) {
        for (name, item) in items {
            let found = try? fixture.keychain.item(id: item.row)
            let value = try? fixture.contents(of: item.row)
            guard found?.account == .string(name.account), found?.directory == name.directory, value == item.value
            else {
                lost.insert(item.row)
                continue
            }
        }
        for id in directories.keys where (try? fixture.keychain.directory(id: id)) == .some(nil) {
            lost.insert(id)
        }
        for id in directories.keys where (try? fixture.keychain.directory(id: id)) == nil { lost.insert(id) }
    }

    // MARK: Steps

    private func step(_ fixture: SQLiteKeychainFixture, _ generator: inout SeededGenerator) {
        let known = items.keys.sorted { ($0.directory, $0.account) < ($1.directory, $1.account) }
        let name = known[Int.random(in: 0..<known.count, using: &generator)]
        let new = Name(
            directory: name.directory, account: "new \(Int.random(in: 0..<1_000_000, using: &generator))")
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: read(name, fixture)
        case 1: expectAbsent(new, fixture)
        case 2: write(name, fixture)
        case 3: addTaken(name, fixture)
        case 4: add(new, fixture)
        case 5: remove(name, fixture)
        case 6: rename(name, to: new, fixture)
        case 7: rename(name, to: known[Int.random(in: 0..<known.count, using: &generator)], fixture)
        case 8: makeDirectory(fixture, &generator)
        case 9: check(fixture)
        case 10: copy(fixture)
        default: removeDirectory(fixture, &generator)
        }
    }

    /// Runs an operation; nil if it failed with an error that is allowed.
    private func attempt<Result>(
        _ what: String, allowed: [KeychainFault] = [], _ body: () throws -> Result
    ) -> Result? {
        text += "; " + what
        do {
            return try body()
        } catch KeychainFault.decode {
            text += " (EBADMSG)"
        } catch {
            if let error = error as? KeychainFault, allowed.contains(error) {
                text += " (\(error))"
            } else {
                complaints.append("\(what): \(error)")
            }
        }
        return nil
    }

    private func found(_ name: Name, _ fixture: SQLiteKeychainFixture) throws -> Item? {
        try fixture.keychain.item(named: CanonicalName(account: .string(name.account)), in: name.directory)
    }

    private func read(_ name: Name, _ fixture: SQLiteKeychainFixture) {
        guard let item = items[name] else { return }
        let value = attempt("read \(name.account)") { () -> [UInt8]?? in
            guard let found = try self.found(name, fixture) else { return .some(nil) }
            return .some(try fixture.contents(of: found.id))
        }
        guard let value, value != .some(item.value) else { return }
        if value == .some(nil) || value == nil {
            if !lost.contains(item.row) { complaints.append("\(name.account) is missing") }
        } else {
            complaints.append("\(name.account) reads as another value")
        }
    }

    /// Other tests judge its result; here it reads every page, including damaged ones, before the next step.
    private func check(_ fixture: SQLiteKeychainFixture) {
        _ = attempt("check") { (try fixture.store.verifyStructure(), try fixture.keychain.check()) }
    }

    private func copy(_ fixture: SQLiteKeychainFixture) {
        let path = scratch["copy"]
        defer { try? FileManager.default.removeItem(atPath: path) }
        // In some damaged files VACUUM INTO ends with SQLITE_FULL, although the disk has space.
        _ = attempt("copy", allowed: [.duplicateItem, .diskFull]) {
            do throws(CopyError<KeychainFault>) {
                try fixture.store.copy(to: path) { _ in }
            } catch {
                throw error.cause
            }
        }
    }

    private func expectAbsent(_ name: Name, _ fixture: SQLiteKeychainFixture) {
        let item = attempt("look for \(name.account)") { try self.found(name, fixture) }
        if case .some(.some) = item { complaints.append("\(name.account) was never made") }
    }

    private func write(_ name: Name, _ fixture: SQLiteKeychainFixture) {
        guard let item = items[name] else { return }
        let value = Array("changed \(text.utf8.count)".utf8)
        let row = attempt("write \(name.account)") { () -> RowID? in
            guard let found = try self.found(name, fixture) else { return nil }
            return try fixture.keychain.change { change throws(KeychainFault) in
                try change.save(found, secret: StoredContents(bytes: value)).id
            }
        }
        guard let row else { return }
        if let row { items[name] = (row, value) } else { expectLost(item.row, name) }
    }

    private func addTaken(_ name: Name, _ fixture: SQLiteKeychainFixture) {
        guard let item = items[name] else { return }
        let isAdded = attempt("add \(name.account) again", allowed: [.duplicateItem]) {
            try self.make(name, [1], fixture)
        }
        guard let isAdded else { return }
        expectLost(item.row, name)
        items[name] = (isAdded, [1])
    }

    private func add(_ name: Name, _ fixture: SQLiteKeychainFixture) {
        guard let row = attempt("add \(name.account)", { try self.make(name, [2], fixture) }) else { return }
        items[name] = (row, [2])
    }

    private func make(_ name: Name, _ value: [UInt8], _ fixture: SQLiteKeychainFixture) throws -> RowID {
        var item = try fixture.item(name.account, count: value.count)
        item.directory = name.directory
        return try fixture.keychain.change { [item] change throws(KeychainFault) in
            let saved = try change.save(item, secret: StoredContents(bytes: value))
            try change.touchDirectory(name.directory)
            return saved.id
        }
    }

    private func remove(_ name: Name, _ fixture: SQLiteKeychainFixture) {
        guard let item = items[name] else { return }
        let row = attempt("remove \(name.account)") { () -> RowID? in
            guard let found = try self.found(name, fixture) else { return nil }
            try fixture.keychain.change { change throws(KeychainFault) in
                try change.deleteItem(found.id)
                try change.touchDirectory(name.directory)
            }
            return found.id
        }
        guard let row else { return }
        if row != item.row { expectLost(item.row, name) }
        items[name] = nil
    }

    private func rename(_ name: Name, to other: Name, _ fixture: SQLiteKeychainFixture) {
        guard let item = items[name], name != other else { return }
        let allowed: [KeychainFault] = items[other] == nil ? [] : [.duplicateItem]
        let row = attempt("rename \(name.account) to \(other.account)", allowed: allowed) { () -> RowID? in
            guard var found = try self.found(name, fixture) else { return nil }
            found.account = .string(other.account)
            found.directory = other.directory
            return try fixture.keychain.change { [found] change throws(KeychainFault) in
                let saved = try change.save(found)
                try change.touchDirectory(other.directory)
                return saved.id
            }
        }
        guard let row else { return }
        guard let row else { return expectLost(item.row, name) }
        if let taken = items[other] { expectLost(taken.row, other) }
        (items[name], items[other]) = (nil, (row, item.value))
    }

    private func makeDirectory(_ fixture: SQLiteKeychainFixture, _ generator: inout SeededGenerator) {
        let known = directories.sorted { $0.key < $1.key }
        let old = known[Int.random(in: 0..<known.count, using: &generator)]
        let isNew = Bool.random(using: &generator)
        let name = isNew ? "made \(Int.random(in: 0..<1_000_000, using: &generator))" : old.value
        let row = attempt("mkdir \(name)", allowed: isNew ? [] : [.duplicateItem]) { try fixture.addService(name) }
        guard let row else { return }
        if !isNew { expectLost(old.key, Name(directory: .none, account: name)) }
        directories[row] = name
    }

    private func removeDirectory(_ fixture: SQLiteKeychainFixture, _ generator: inout SeededGenerator) {
        let known = directories.keys.sorted()
        let row = known[Int.random(in: 0..<known.count, using: &generator)]
        let held = items.filter { $0.key.directory == row && !lost.contains($0.value.row) }
        let isDeleted: Void? = attempt("rmdir \(row.rawValue)", allowed: [.directoryNotEmpty]) {
            try fixture.keychain.change { change throws(KeychainFault) in try change.deleteDirectory(row) }
        }
        guard isDeleted != nil else { return }
        if !held.isEmpty { complaints.append("directory \(row.rawValue) was removed with items in it") }
        directories[row] = nil
        items = items.filter { $0.key.directory != row }
    }

    private func expectLost(_ row: RowID, _ name: Name) {
        if !lost.contains(row) { complaints.append("\(name.account) was taken for absent") }
    }

    // MARK: The end

    /// Everything else is as it was, no name is there twice, and no listing that ends cleanly lacks an item.
    private func compare(_ fixture: SQLiteKeychainFixture) {
        for (name, item) in items where !lost.contains(item.row) {
            let value = attempt("compare row \(item.row.rawValue)") { try fixture.contents(of: item.row) }
            if let value, value != item.value { complaints.append("\(name.account) has changed") }
            read(name, fixture)
        }
        for directory in directories.keys where !lost.contains(directory) { compareListing(of: directory, fixture) }
        var seen: [Name: RowID] = [:]
        let rows = try? fixture.store.read { reader throws(KeychainFault) in
            try reader.itemIDs(after: .none, limit: 10_000)
        }
        for row in rows ?? [] {
            guard let item = (try? fixture.keychain.item(id: row)) ?? nil else { continue }
            let account = String(decoding: item.account.bytes ?? [], as: UTF8.self)
            let name = Name(directory: item.directory, account: account)
            if let other = seen[name] {
                complaints.append("\(account) is there twice, as \(other.rawValue) and \(row.rawValue)")
            }
            seen[name] = row
        }
    }

    private func compareListing(of directory: RowID, _ fixture: SQLiteKeychainFixture) {
        let listed = attempt("list \(directory.rawValue)") {
            try fixture.keychain.items(in: directory, after: .none, limit: 10_000)
        }
        guard let listed, !fixture.keychain.missesRows else { return }
        let rows = Set(listed.map(\.rowID))
        for (name, item) in items where name.directory == directory && !lost.contains(item.row) {
            if !rows.contains(item.row) {
                complaints.append("the listing of \(directory.rawValue) lacks \(name.account)")
            }
        }
    }
}

extension ListingEntry<Item> {
    fileprivate var rowID: RowID {
        switch self {
        case .available(let item): item.id
        case .unavailable(let id), .foreign(let id), .damaged(let id): id
        }
    }
}
