import KeychainTesting
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
        #expect(client.add([String: Plain].internet("h", "a").with([kSecAttrPort: 22])).status == errSecSuccess)
    }

    private func space(_ terms: [String: QueryValue], _ groups: [String] = ["default"]) throws -> SearchSpace {
        let me = QueryClient(accessGroups: groups.map { Array($0.utf8) }, userID: 0, groupID: 0)
        let query = try ItemQuery(terms, for: .copyMatching, by: me)
        return try SearchSpace(query, in: fixture.keychain)
    }

    private func directory(_ service: ServiceKey, _ group: String = "default") throws -> RowID {
        let container = ContainerKey(itemClass: service.itemClass, accessGroup: Array(group.utf8))
        let found = try fixture.keychain.directory(named: CanonicalName(service: service), in: container)
        return try #require(found).id
    }

    @Test("S5: the whole key: one row")
    func key() throws {
        let query: QueryDictionary = ["class": .string("genp"), "svce": .string("s"), "acct": .string("b")]
        #expect(try space(query) == .rows([fixture.row(.generic("s", "b"))]))
        #expect(try space(query.merging(["acct": .string("none")]) { $1 }) == .rows([]))
        #expect(try space(query.merging(["svce": .string("none")]) { $1 }) == .rows([]))
        let account = query.filter { $0.key != "svce" }.merging(["acct": .string("a")]) { $1 }
        #expect(try space(account) == .rows([fixture.row(.generic("s", "a")), fixture.row(.generic("t", "a"))]))
    }

    @Test("S5: what a directory stands for: its rows; a part of it: those of the directories that match")
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

    @Test("S5: a small group is looked up whatever the others hold; of many directories all rows are gone through")
    func groups() throws {
        for index in 0...SearchSpace.mergedLimit {
            #expect(client.add(.generic(.text("many \(index)"), "a")).status == errSecSuccess)
        }
        #expect(client.with(["small"]).add(.generic("s", "a")).status == errSecSuccess)
        let label: QueryDictionary = ["class": .string("genp"), "labl": .string("l")]
        let small = try directory(.generic(service: .string("s")), "small")
        #expect(try space(label, ["small"]) == .directories([small]))
        let container = try #require(try fixture.keychain.container(ContainerKey(itemClass: .genericPassword)))
        #expect(try space(label) == .containers([container.id]))
        #expect(try space(label, ["nobody's"]) == .directories([]))
    }
}
