import Keychain
import KeychainTesting
import SecItemTesting
import Testing

@Suite("SecItemDelete, reference 8.4")
struct DeleteCases {
    private let fixture: CaseFixture
    private var client: any SecItemClient { fixture.client }
    private let item = [String: PlainValue].generic("s", "a")

    init() throws { fixture = try CaseFixture() }

    private func add(_ item: [String: PlainValue]) {
        #expect(client.add(item.with([kSecValueData: .bytes("x")])).status == errSecSuccess)
    }

    @Test("8.4/53: once, and not again", arguments: Transport.all)
    func twice(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        let row = try fixture.row(item)
        #expect(client.delete(item) == errSecSuccess)
        #expect(fixture.changed { $0.map(\.row) == [row] && $0.first?.new == nil })
        #expect(client.delete(item) == errSecItemNotFound)
        #expect(fixture.store.records.itemRecords.isEmpty)
    }

    @Test("8.4/54: through a persistent reference", arguments: Transport.all)
    func reference(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        add(.generic("s", "b"))
        let reference = try #require(client.reference(item))
        #expect(client.delete([kSecValuePersistentRef: reference]) == errSecSuccess)
        #expect(client.status(item) == errSecItemNotFound && client.count(.anyGeneric) == 1)
        #expect(client.delete([kSecValuePersistentRef: reference]) == errSecItemNotFound)
    }

    @Test("8.4/56: return keys are tolerated; match keys are not, except LimitAll", arguments: Transport.all)
    func keys(_ transport: Transport) {
        fixture.use(transport)
        add(item)
        #expect(client.delete(item.with([kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
        #expect(client.delete(item.with([kSecMatchLimit: 2])) == errSecParam)
        #expect(client.delete(item.with([kSecMatchSubjectContains: "x"])) == errSecParam)
        #expect(client.delete(item.with([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])) == errSecSuccess)
    }

    @Test("8.4/57: clients without groups and foreign groups", arguments: Transport.all)
    func entitlements(_ transport: Transport) {
        fixture.use(transport)
        add(item)
        #expect(client.entitled([]).delete(item) == errSecMissingEntitlement)
        #expect(client.delete(item.with([kSecAttrAccessGroup: "foreign"])) == errSecMissingEntitlement)
        #expect(client.status(item) == errSecSuccess)
    }

    @Test(
        "8.4/58, 3.12: a query of a class alone deletes all visible items that do not synchronize, in one transaction",
        arguments: Transport.all)
    func all(_ transport: Transport) {
        fixture.use(transport)
        let client = client.entitled(["one", "two"])
        let foreign = self.client.entitled(["three"])
        for group in ["one", "two"] {
            #expect(client.add(item.with([kSecAttrAccessGroup: .text(group)])).status == errSecSuccess)
        }
        #expect(client.add(item.with([kSecAttrSynchronizable: true])).status == errSecSuccess)
        #expect(client.add(.internet("s", "a")).status == errSecSuccess)
        #expect(foreign.add(item).status == errSecSuccess)
        let writes = fixture.store.writeCount
        #expect(client.delete(.anyGeneric) == errSecSuccess)
        #expect(fixture.store.writeCount == writes + 1)
        #expect(client.count(.anyGeneric.with([kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == 1)
        #expect(client.count(.anyInternet) == 1 && foreign.count(.anyGeneric) == 1)
    }

    @Test(
        "8.4/59: a deleted item can be added again, and no query finds a tombstone",
        arguments: Transport.all)
    func noTombstone(_ transport: Transport) {
        fixture.use(transport)
        let sync = item.with([kSecAttrSynchronizable: true])
        add(sync)
        #expect(client.delete(sync.with(["u_Tomb": true])) == errSecSuccess)
        #expect(client.status(sync.with(["tomb": 1])) == errSecItemNotFound)
        add(sync)
    }

    @Test(
        "3.12: damage does not prevent deletion of matching items; an item whose match is unknown stays",
        arguments: Transport.all)
    func damaged(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        add(.generic("s", "b"))
        try fixture.damage(item)
        #expect(client.delete(.anyGeneric.with([kSecAttrLabel: "l"])) == errSecItemNotFound)
        #expect(client.delete(item) == errSecSuccess && client.delete(item) == errSecItemNotFound)
        try fixture.damage(.generic("s", "b"))
        #expect(client.delete(.anyGeneric) == errSecSuccess)
        #expect(fixture.store.records.itemRecords.isEmpty)
    }

    @Test("the service directory stays, as after unlink", arguments: Transport.all)
    func directory(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        #expect(client.delete(item) == errSecSuccess)
        let name = CanonicalName(service: .generic(service: .string("s")))
        let container = ContainerKey(itemClass: .genericPassword)
        #expect(try fixture.keychain.directory(named: name, in: container) != nil)
    }
}
