import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("Queries on a file")
struct QueryTests {
    private let me = QueryClient(accessGroups: [Array("default".utf8)], userID: 0, groupID: 0)
    private let all: QueryDictionary = [
        "class": .string("genp"), "m_Limit": .string("m_LimitAll"), "r_Attributes": .boolean(true),
    ]

    private func accounts(_ fixture: SQLiteKeychainFixture, _ query: QueryDictionary) throws -> [QueryValue?] {
        let engine = QueryEngine(keychain: fixture.keychain)
        guard case .list(let entries) = try engine.copyMatching(query, by: me) else { return [] }
        return entries.map { entry in
            if case .dictionary(let values, _) = entry { values["acct"] } else { nil }
        }
    }

    @Test("while indexes miss rows, SecItem functions find what has its entries and report nothing as absent")
    func wrongIndexes() throws {
        let wrong = try WrongIndexes()
        try wrong.hide("alpha")
        let before = try wrong.rowCount()
        let fixture = try wrong.opened()
        defer { fixture.close() }
        _ = try fixture.keychain.verifyNow()
        let engine = QueryEngine(keychain: fixture.keychain)
        func item(_ account: String) -> QueryDictionary {
            ["class": .string("genp"), "svce": .string("mail"), "acct": .string(account)]
        }
        for account in ["alpha", "never"] {
            #expect(throws: SecurityStatus.decode) { try engine.add(item(account), by: me) }
            #expect(throws: SecurityStatus.decode) {
                try engine.copyMatching(item(account).merging(["r_Attributes": .boolean(true)]) { $1 }, by: me)
            }
        }
        #expect(throws: SecurityStatus.decode) { try accounts(fixture, all) }
        #expect(try engine.delete(item("beta"), by: me).count == 1)
        fixture.close()
        #expect(try wrong.rowCount() == before - 1)
    }

    @Test("3.2: more items than pages hold, in the order of creation; a label is found among them")
    func pages() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let engine = QueryEngine(keychain: fixture.keychain)
        for number in 0..<300 {
            let item: QueryDictionary = [
                "class": .string("genp"), "svce": .string("s\(number % 7)"), "acct": .string("\(number)"),
                "labl": .string("l\(number)"),
            ]
            #expect(try engine.add(item, by: me).changes.count == 1)
        }
        #expect(try accounts(fixture, all) == (0..<300).map { .string("\($0)") })
        let labelled = all.merging(["labl": .string("l250")]) { $1 }
        #expect(try accounts(fixture, labelled) == [.string("250")])
        let service = all.merging(["svce": .string("s3")]) { $1 }
        #expect(try accounts(fixture, service) == (0..<300).filter { $0 % 7 == 3 }.map { .string("\($0)") })
        #expect(try engine.delete(service.filter { !$0.key.hasPrefix("r_") }, by: me).count == 43)
        #expect(try accounts(fixture, all).count == 257)
        #expect(try fixture.isConsistent)
    }

    @Test(
        "S4: a row whose columns are not those of one hides no other",
        arguments: ["tag = X'01'", "protection = 99", "metadata_seal = X'00'"])
    func damagedColumns(_ change: String) throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        for account in ["a", "b", "c"] { try fixture.add(account, [1]) }
        let damaged = try fixture.add("d", [1])
        try fixture.add("e", [1])
        fixture.close()
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.write {
            try $0.execute(sql: "UPDATE item SET \(change) WHERE id = ?", arguments: [damaged.id.rawValue])
        }
        try queue.close()
        let again = try SQLiteKeychainFixture(opening: scratch.keychain, directory: fixture.directory)
        defer { again.close() }
        let others = ["a", "b", "c", "e"].map { QueryValue.string($0) }
        #expect(try accounts(again, all) == others)
        #expect(try accounts(again, all.merging(["svce": .string("mail")]) { $1 }) == others)
    }
}
