import Keychain
import KeychainServer
import KeychainTesting
import SecItemTesting
import Testing

@Suite("SecItemAdd, reference 8.1")
struct AddCases {
    private let fixture: CaseFixture
    private var client: any SecItemClient { fixture.client }

    init() throws { fixture = try CaseFixture() }

    @Test(
        "8.1/1: the same internet password again is a duplicate, and the first item is not modified",
        arguments: Transport.all
    )
    func duplicate(_ transport: Transport) {
        fixture.use(transport)
        let item: [String: PlainValue] = [
            kSecClass: kSecClassInternetPassword, kSecAttrServer: "members.spamcop.net", kSecAttrAccount: "smith",
            kSecAttrPort: 80, kSecAttrProtocol: "http", kSecAttrAuthenticationType: "dflt",
        ]
        #expect(client.add(item.with([kSecValueData: .bytes("passwd")])) == Answer(status: errSecSuccess))
        let again = item.with([kSecValueData: .bytes("other"), kSecAttrLabel: "x"])
        #expect(client.add(again) == Answer(status: errSecDuplicateItem))
        #expect(client.data(item) == .bytes("passwd"))
        #expect(client.attribute(kSecAttrLabel, item) == nil)
        #expect(client.add(item.with([kSecAttrPort: 81])).status == errSecSuccess, "a key of its own")
    }

    @Test("8.1/3: without a return key there is no result", arguments: Transport.all)
    func noResult(_ transport: Transport) {
        fixture.use(transport)
        #expect(client.add(.generic("s", "a")) == Answer(status: errSecSuccess, result: nil))
    }

    @Test("8.1/4: with ReturnPersistentRef a reference, by which the item is found", arguments: Transport.all)
    func persistentReference(_ transport: Transport) throws {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a").with([kSecValueData: .bytes("x")])
        let reference = try #require(client.add(item.with([kSecReturnPersistentRef: true])).result)
        #expect(reference.bytes?.count == 20)
        #expect(reference.bytes?.prefix(4) == Array("genp".utf8)[...])
        #expect(client.data([kSecValuePersistentRef: reference]) == .bytes("x"))
    }

    @Test("8.1/5: each of the other return keys, and all of them together", arguments: Transport.all)
    func results(_ transport: Transport) throws {
        fixture.use(transport)
        func added(_ account: PlainValue, _ returns: [String: PlainValue]) -> PlainValue? {
            client.add([String: PlainValue].generic("s", account).with([kSecValueData: .bytes("x")]).with(returns))
                .result
        }
        #expect(added("a", [kSecReturnData: true]) == .bytes("x"))
        #expect(added("b", [kSecReturnRef: true]) == nil)
        let attributes = try #require(added("c", [kSecReturnAttributes: true])).values
        let expected: Set = ["acct", "svce", "agrp", "sync", "pdmn", "cdat", "mdat"]
        #expect(Set(attributes.keys) == expected)
        #expect(attributes[kSecAttrAccount] == "c" && attributes[kSecAttrSynchronizable] == 0)
        let all: [String: PlainValue] = [
            kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true, kSecReturnPersistentRef: true,
        ]
        let everything = try #require(added("d", all)).values
        #expect(Set(everything.keys) == expected.union(["v_Data", "v_PersistentRef", "class"]))
        #expect(everything[kSecValueData] == .bytes("x") && everything[kSecClass] == "genp")
        #expect(added("e", [kSecReturnData: false]) == nil)
    }

    @Test("8.1/6: an attribute of another class", arguments: Transport.all)
    func otherClass(_ transport: Transport) {
        fixture.use(transport)
        #expect(
            client.add([String: PlainValue].generic("s", "a").with([kSecAttrApplicationTag: "t"])).status
                == errSecNoSuchAttr
        )
        #expect(
            client.add([String: PlainValue].internet("s", "a").with([kSecAttrService: "s"])).status == errSecNoSuchAttr)
        #expect(
            client.add([String: PlainValue].internet("s", "a").with([kSecAttrGeneric: "s"])).status == errSecNoSuchAttr)
        #expect(client.count(.anyGeneric) == 0 && client.count(.anyInternet) == 0)
    }

    @Test("8.1/7: without kSecValueData, and with an empty one, which is not the same", arguments: Transport.all)
    func noData(_ transport: Transport) {
        fixture.use(transport)
        #expect(client.add(.generic("s", "a")).status == errSecSuccess)
        #expect(
            client.add([String: PlainValue].generic("s", "b").with([kSecValueData: .data([])])).status == errSecSuccess)
        #expect(client.data(.generic("s", "a")) == nil)
        #expect(client.data(.generic("s", "b")) == .data([]))
    }

    @Test(
        "8.1/8: a synchronizable item is found by true or Any only, and is another item than a local one",
        arguments: Transport.all)
    func synchronizable(_ transport: Transport) {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a")
        let sync: [String: PlainValue] = [kSecAttrSynchronizable: true]
        #expect(client.add(item.with(sync).with([kSecValueData: .bytes("x")])).status == errSecSuccess)
        #expect(client.status(item) == errSecItemNotFound)
        #expect(client.status(item.with([kSecAttrSynchronizable: false])) == errSecItemNotFound)
        #expect(client.data(item.with(sync)) == .bytes("x"))
        #expect(client.data(item.with([kSecAttrSynchronizable: 1])) == .bytes("x"))
        #expect(client.data(item.with([kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == .bytes("x"))
        #expect(client.attribute(kSecAttrSynchronizable, item.with(sync)) == 1)
        #expect(client.add(item).status == errSecSuccess)
        #expect(client.count(.anyGeneric.with([kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == 2)
        #expect(client.add(item.with([kSecAttrSynchronizable: kSecAttrSynchronizableAny])).status == errSecParam)
        #expect(client.delete(item.with(sync)) == errSecSuccess)
        #expect(client.count(.anyGeneric.with([kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == 1)
    }

    @Test("8.1/9: a password has no reference to be added by", arguments: Transport.all)
    func valueReference(_ transport: Transport) {
        fixture.use(transport)
        #expect(client.add([String: PlainValue].generic("s", "a").with([kSecValueRef: .object])).status == errSecParam)
    }

    @Test("8.1/10: the mark of app clips, in every call", arguments: Transport.all)
    func appClip(_ transport: Transport) {
        fixture.use(transport)
        let query = [String: PlainValue].generic("s", "a").with(["clip": 1])
        #expect(client.add(query).status == errSecParam)
        #expect(client.add(.generic("s", "a")).status == errSecSuccess)
        #expect(client.status(query) == errSecParam && client.delete(query) == errSecParam)
        #expect(client.update(.generic("s", "a"), ["clip": 1]) == errSecParam)
    }

    @Test(
        "8.1/11: an invalid access control", arguments: Transport.all,
        ["ak", .null, 1, .data([1])] as [PlainValue])
    func accessControlType(_ transport: Transport, _ value: PlainValue) {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a").with([kSecAttrAccessControl: value])
        #expect(client.add(item).status == errSecParam)
    }

    @Test("8.1/12: an addition replaces a damaged item", arguments: Transport.all)
    func overDamaged(_ transport: Transport) throws {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a")
        #expect(client.add(item.with([kSecValueData: .bytes("old")])).status == errSecSuccess)
        let row = try fixture.row(item)
        try fixture.damage(item)
        #expect(client.status(item) == errSecItemNotFound)
        #expect(client.add(item.with([kSecValueData: .bytes("new")])).status == errSecSuccess)
        #expect(client.data(item) == .bytes("new") && client.count(.anyGeneric) == 1)
        #expect(fixture.changed { $0.map(\.row).first == row && $0.count == 2 })
    }

    @Test("8.1/15: the empty port is 0, as on iOS", arguments: Transport.all)
    func emptyPort(_ transport: Transport) {
        fixture.use(transport)
        #expect(client.add([String: PlainValue].internet("s", "a").with([kSecAttrPort: ""])).status == errSecSuccess)
        #expect(
            client.add([String: PlainValue].internet("s", "a").with([kSecAttrPort: 0])).status == errSecDuplicateItem)
        #expect(client.add([String: PlainValue].internet("s", "a").with([kSecAttrPort: "http"])).status == errSecParam)
        #expect(client.attribute(kSecAttrPort, .internet("s", "a")) == 0)
    }

    @Test("8.1/16: clients without groups, groups of others, and that of tokens", arguments: Transport.all)
    func entitlements(_ transport: Transport) {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a")
        #expect(client.entitled([]).add(item).status == errSecMissingEntitlement)
        #expect(client.add(item.with([kSecAttrAccessGroup: "foreign"])).status == errSecMissingEntitlement)
        let token = client.entitled(["com.apple.token", "*"])
        #expect(token.add(item.with([kSecAttrAccessGroup: "com.apple.token"])).status == errSecMissingEntitlement)
        #expect(client.entitled(["*"]).count(.anyGeneric) == 0)
    }

    @Test("8.1/17: the default group is the client's first", arguments: Transport.all)
    func defaultGroup(_ transport: Transport) {
        fixture.use(transport)
        let client = client.entitled(["com.example.one", "com.example.two"])
        #expect(client.add(.generic("s", "a")).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessGroup, .generic("s", "a")) == "com.example.one")
        #expect(self.client.entitled(["*"]).add(.generic("s", "b")).status == errSecSuccess)
        #expect(self.client.attribute(kSecAttrAccessGroup, .generic("s", "b")) == "default")
    }

    @Test("1.4: WhenUnlocked unless the directory or the group say otherwise", arguments: Transport.all)
    func defaultProtection(_ transport: Transport) throws {
        fixture.use(transport)
        #expect(client.add(.generic("s", "a")).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessible, .generic("s", "a")) == "ak")
        let push = client.entitled(["com.apple.apsd"])
        #expect(push.add(.generic("s", "a")).status == errSecSuccess)
        #expect(push.attribute(kSecAttrAccessible, .generic("s", "a")) == "dku")
        try fixture.keychain.change { change throws(KeychainFault) in
            let container = ContainerKey(itemClass: .genericPassword)
            let name = CanonicalName(service: .generic(service: .string("s")))
            guard var directory = try change.directory(named: name, in: container) else { throw .itemNotFound }
            directory.defaultProtection = .afterFirstUnlock
            _ = try change.save(directory)
        }
        #expect(client.add(.generic("s", "b")).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessible, .generic("s", "b")) == "ck")
    }

    @Test(
        "3.10: dates are the system's, match keys and text as data are refused, and so is too long a secret",
        arguments: Transport.all)
    func bounds(_ transport: Transport) throws {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a")
        let date = PlainValue.date(KeychainDate(seconds: 1_600_000_000, nanoseconds: 500_000_000))
        let dates: [String: PlainValue] = [kSecAttrCreationDate: date, kSecAttrModificationDate: date]
        #expect(client.add(item.with(dates)).status == errSecSuccess)
        #expect(client.attribute(kSecAttrCreationDate, item) != date)
        #expect(client.attribute(kSecAttrModificationDate, item) != date)
        let other = [String: PlainValue].generic("s", "b")
        #expect(client.add(other.with([kSecMatchLimit: kSecMatchLimitOne])).status == errSecParam)
        #expect(client.add(other.with([kSecMatchCaseInsensitive: true])).status == errSecParam)
        #expect(client.add(other.with([kSecValueData: "text"])).status == errSecParam)
        #expect(client.add(other.without(kSecClass)).status == errSecParam)
        let fixture = try CaseFixture(valueLimit: 3)
        fixture.use(transport)
        let small = fixture.client
        #expect(small.add(other.with([kSecValueData: .data([1, 2, 3])])).status == errSecSuccess)
        #expect(small.update(other, [kSecValueData: .data([1, 2, 3, 4])]) == errSecDataTooLarge)
        let long = [String: PlainValue].generic("s", "c").with([kSecValueData: .data([1, 2, 3, 4])])
        #expect(small.add(long).status == errSecDataTooLarge)
        let label = PlainValue.text(String(repeating: "x", count: 70_000))
        #expect(client.add(other.with([kSecAttrLabel: label])).status == errSecDataTooLarge)
        #expect(client.count(.anyGeneric) == 1)
    }

    @Test(
        "an item is a file of the client's user, in directories of that user",
        arguments: Transport.all)
    func file(_ transport: Transport) throws {
        fixture.use(transport)
        let client = fixture.client.entitled(["g"])
        let item = [String: PlainValue].internet("h", "a").with([kSecAttrPort: 22, kSecAttrSynchronizable: true])
        #expect(client.add(item).status == errSecSuccess)
        var service = InternetService(server: .string("h"))
        service.port = 22
        let container = ContainerKey(
            itemClass: .internetPassword, accessGroup: Array("g".utf8), isSynchronizable: true)
        let name = CanonicalName(service: .internet(service))
        let directory = try #require(try fixture.keychain.directory(named: name, in: container))
        let account = CanonicalName(account: .string("a"))
        let found = try #require(try fixture.keychain.item(named: account, in: directory.id))
        #expect(found.file.permissions == 0o600 && found.file.inode == UInt64(found.id.rawValue))
        #expect(
            found.file.userID == transport.owner.userID && found.file.groupID == transport.owner.groupID
                && directory.file.permissions == 0o700)
        let place = ItemPrimaryKey(account: .string("a"), service: .internet(service), container: container)
        #expect(
            fixture.changed {
                $0.count == 1 && $0.first?.row == found.id && $0.first?.old == nil && $0.first?.new == place
            })
        #expect(try fixture.keychain.check().isConsistent)
    }
}
