import KeychainTesting
import Testing

@testable import Keychain

@Suite("SecItemDelete, reference 8.4")
struct DeleteCases {
    private let fixture: QueryFixture
    private var client: EngineClient { fixture.client }
    private let item = [String: Plain].generic("s", "a")

    init() throws { fixture = try QueryFixture() }

    private func add(_ item: [String: Plain]) {
        #expect(client.add(item.with([kSecValueData: .bytes("x")])).status == errSecSuccess)
    }

    @Test("8.4/53: once, and not again")
    func twice() throws {
        add(item)
        let row = try fixture.row(item)
        #expect(client.delete(item) == errSecSuccess)
        #expect(client.changes.all.map(\.row) == [row] && client.changes.all.first?.new == nil)
        #expect(client.delete(item) == errSecItemNotFound)
        #expect(fixture.bench.store.records.itemRecords.isEmpty)
    }

    @Test("8.4/54: through a persistent reference")
    func reference() throws {
        add(item)
        add(.generic("s", "b"))
        let reference = try #require(client.reference(item))
        #expect(client.delete([kSecValuePersistentRef: reference]) == errSecSuccess)
        #expect(client.status(item) == errSecItemNotFound && client.count(.anyGeneric) == 1)
        #expect(client.delete([kSecValuePersistentRef: reference]) == errSecItemNotFound)
    }

    @Test("8.4/56: return keys are tolerated, match keys are not, but for LimitAll")
    func keys() {
        add(item)
        #expect(client.delete(item.with([kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
        #expect(client.delete(item.with([kSecMatchLimit: 2])) == errSecParam)
        #expect(client.delete(item.with([kSecMatchSubjectContains: "x"])) == errSecParam)
        #expect(client.delete(item.with([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
    }

    @Test("8.4/57: clients without groups and foreign groups")
    func entitlements() {
        add(item)
        #expect(client.entitled([]).delete(item) == errSecMissingEntitlement)
        #expect(client.delete(item.with([kSecAttrAccessGroup: "foreign"])) == errSecMissingEntitlement)
        #expect(client.status(item) == errSecSuccess)
    }

    @Test("8.4/58, 3.12: a class alone is all that the client sees and that is not synchronizable, at once")
    func all() {
        let client = client.entitled(["one", "two"])
        let foreign = self.client.entitled(["three"])
        for group in ["one", "two"] {
            #expect(client.add(item.with([kSecAttrAccessGroup: .text(group)])).status == errSecSuccess)
        }
        #expect(client.add(item.with([kSecAttrSynchronizable: true])).status == errSecSuccess)
        #expect(client.add(.internet("s", "a")).status == errSecSuccess)
        #expect(foreign.add(item).status == errSecSuccess)
        let writes = fixture.bench.store.writeCount
        #expect(client.delete(.anyGeneric) == errSecSuccess)
        #expect(fixture.bench.store.writeCount == writes + 1)
        #expect(client.count(.anyGeneric.with([kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == 1)
        #expect(client.count(.anyInternet) == 1 && foreign.count(.anyGeneric) == 1)
    }

    @Test("8.4/59: a deleted item leaves nothing: it can be added again, and nobody sees a tombstone")
    func noTombstone() {
        let sync = item.with([kSecAttrSynchronizable: true])
        add(sync)
        #expect(client.delete(sync.with(["u_Tomb": true])) == errSecSuccess)
        #expect(client.status(sync.with(["tomb": 1])) == errSecItemNotFound)
        add(sync)
    }

    @Test("3.12: damage does not prevent deletion of what is meant; where that cannot be told it stays")
    func damaged() throws {
        add(item)
        add(.generic("s", "b"))
        try fixture.damage(item)
        #expect(client.delete(.anyGeneric.with([kSecAttrLabel: "l"])) == errSecItemNotFound)
        #expect(client.delete(item) == errSecSuccess && client.delete(item) == errSecItemNotFound)
        try fixture.damage(.generic("s", "b"))
        #expect(client.delete(.anyGeneric) == errSecSuccess)
        #expect(fixture.bench.store.records.itemRecords.isEmpty)
    }

    @Test("the service directory stays, as after unlink")
    func directory() throws {
        add(item)
        #expect(client.delete(item) == errSecSuccess)
        let name = CanonicalName(service: .generic(service: .string("s")))
        let container = ContainerKey(itemClass: .genericPassword)
        #expect(try fixture.keychain.directory(named: name, in: container) != nil)
    }
}
