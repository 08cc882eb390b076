import KeychainTesting
import SecItemTesting
import Testing

@testable import Keychain

@Suite("Where a query looks")
struct SearchSpaceTests {
    private let fixture: QueryFixture
    private let client: EngineClient

    init() throws {
        fixture = try QueryFixture()
        client = fixture.client
        #expect(client.add(.generic("s", "a")).status == errSecSuccess)
        #expect(client.add(.generic("s", "b")).status == errSecSuccess)
        #expect(client.add(.generic("t", "a")).status == errSecSuccess)
        #expect(client.add([String: PlainValue].internet("h", "a").with([kSecAttrPort: 22])).status == errSecSuccess)
    }

    private func space(_ terms: [String: QueryValue], _ groups: [String] = ["default"]) throws -> SearchSpace {
        let me = QueryClient(accessGroups: groups.map { Array($0.utf8) }, userID: 0, groupID: 0)
        let query = try ItemQuery(terms, for: .copyMatching, by: me)
        return try SearchSpace(query, in: fixture.keychain)
    }

    private func directory(_ service: ServiceKey) throws -> RowID {
        let container = ContainerKey(itemClass: service.itemClass)
        let found = try fixture.keychain.directory(named: CanonicalName(service: service), in: container)
        return try #require(found).id
    }

    /// The rows that were read on the way; nil for another space.
    private func named(_ terms: [String: QueryValue]) throws -> [RowID]? {
        guard case .named(let rows) = try space(terms) else { return nil }
        return rows.map(\.id)
    }

    @Test("S5: the whole key: one row")
    func key() throws {
        let query: QueryDictionary = ["class": .string("genp"), "svce": .string("s"), "acct": .string("b")]
        #expect(try named(query) == [fixture.row(.generic("s", "b"))])
        #expect(try space(query.merging(["acct": .string("none")]) { $1 }) == .named([]))
        #expect(try space(query.merging(["svce": .string("none")]) { $1 }) == .named([]))
        let account = query.filter { $0.key != "svce" }.merging(["acct": .string("a")]) { $1 }
        #expect(try space(account) == .rows([fixture.row(.generic("s", "a")), fixture.row(.generic("t", "a"))]))
    }

    @Test("S5: all attributes of a directory: its rows; a part of them: the rows of the matching directories")
    func directories() throws {
        let service = ServiceKey.generic(service: .string("s"))
        let query: QueryDictionary = ["class": .string("genp"), "svce": .string("s"), "labl": .string("l")]
        #expect(try space(query) == .directories([directory(service)]))
        var host = InternetService(server: .string("h"))
        host.port = 22
        #expect(
            try space(["class": .string("inet"), "port": .number(22)]) == .directories([directory(.internet(host))]))
        #expect(try space(["class": .string("inet"), "port": .number(23)]) == .directories([]))
    }

    @Test(
        "S5: a small group is listed, regardless of the size of others; for many directories all rows are scanned"
    )
    func groups() throws {
        for index in 0...SearchSpace.mergedLimit {
            #expect(client.add(.generic(.text("many \(index)"), "a")).status == errSecSuccess)
        }
        #expect(client.with(["small"]).add(.generic("s", "a")).status == errSecSuccess)
        let label: QueryDictionary = ["class": .string("genp"), "labl": .string("l")]
        let small = try #require(client.with(["small"]).changes.all.last?.row)
        #expect(try space(label, ["small"]) == .listed([small]))
        let container = try #require(try fixture.keychain.container(ContainerKey(itemClass: .genericPassword)))
        #expect(try space(label) == .containers([container.id]))
        #expect(try space(label, ["nobody's"]) == .listed([]))
    }
}
