import Foundation
import GRDB
import TestSupport
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Random damage of pages, rows and indexes, followed by reads, writes and removals.
@Suite("S4: reads, writes and removals after damage")
struct DamageTrialTests {
    @Test("no wrong value, no second item of a name, no other change, and no error but EBADMSG or the usual one")
    func trials() async throws {
        let length = ProofLength(cases: 40)
        let complete = try IntactKeychain()
        var (cases, opened) = (0, 0)
        for number in length.spread(1 << 20) where !length.isOver(after: cases) {
            var generator = SeededGenerator(seed: UInt64(number))
            let trial = try DamageTrial(complete, &generator)
            let complaints = try await trial.run(&generator)
            #expect(complaints == [], "KEYCHAINFS_PROOF_SEED=\(number): \(trial.text)")
            cases += 1
            if trial.hasOpened { opened += 1 }
        }
        #expect(opened > cases / 4, "most damage leaves a keychain that opens")
        length.report("damage trials, \(opened) of them opened", cases: cases)
    }
}

/// A closed keychain of several hundred items, with their values.
struct IntactKeychain {
    struct Name: Hashable {
        let directory: RowID
        let account: String
    }

    let scratch: TemporaryDirectory
    let mail: RowID
    let directories: [RowID: String]
    let items: [Name: (row: RowID, value: [UInt8])]

    init() throws {
        scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        mail = fixture.directory
        var directories = [mail: "mail"]
        for number in 0..<40 { directories[try fixture.addService("service \(number)")] = "service \(number)" }
        var items: [Name: (row: RowID, value: [UInt8])] = [:]
        let classes: [ProtectionClass] = [.whenUnlocked, .always, .afterFirstUnlock, .whenUnlockedThisDeviceOnly]
        let rows = directories.keys.sorted()
        let added = try fixture.keychain.change { change throws(KeychainFault) in
            var added: [(Item, [UInt8])] = []
            for number in 0..<300 {
                let contents = Array("secret of \(number)".utf8)
                var item = try fixture.item("account \(number)", count: contents.count)
                item.directory = rows[number * number % rows.count]
                item.protection = classes[number % classes.count]
                added.append((try change.save(item, secret: StoredContents(bytes: contents)), contents))
            }
            return added
        }
        for (item, contents) in added {
            let account = String(decoding: item.account.bytes ?? [], as: UTF8.self)
            items[Name(directory: item.directory, account: account)] = (item.id, contents)
        }
        (self.directories, self.items) = (directories, items)
    }
}
