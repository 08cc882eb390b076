import Keychain
import KeychainTesting
import SecItemTesting
import Testing

@Suite("SecItemCopyMatching, reference 8.2")
struct CopyMatchingCases {
    private let fixture: CaseFixture
    private var client: any SecItemClient { fixture.client }

    init() throws { fixture = try CaseFixture() }

    private func add(_ item: [String: PlainValue], _ secret: String? = nil) {
        var item = item
        if let secret { item[kSecValueData] = .bytes(secret) }
        #expect(client.add(item).status == errSecSuccess)
    }

    @Test("8.2/18: an empty class has no matches for any query", arguments: Transport.all)
    func empty(_ transport: Transport) {
        fixture.use(transport)
        for limit in [kSecMatchLimitOne, kSecMatchLimitAll, 1, 5, 0] {
            let query = [String: PlainValue].anyGeneric.with([kSecMatchLimit: limit, kSecReturnData: true])
            #expect(client.copyMatching(query) == Answer(status: errSecItemNotFound, result: nil))
        }
    }

    @Test("8.2/19: by class and all attributes, without the data", arguments: Transport.all)
    func allAttributes(_ transport: Transport) {
        fixture.use(transport)
        let item = [String: PlainValue].internet("server", "account").with([
            kSecAttrPort: 80, kSecAttrProtocol: "http", kSecAttrAuthenticationType: "dflt", kSecAttrPath: "/p",
            kSecAttrSecurityDomain: "d", kSecAttrLabel: "l", kSecAttrComment: "c", kSecAttrDescription: "x",
            kSecAttrCreator: 12, kSecAttrType: 13, kSecAttrIsInvisible: true,
        ])
        add(item, "x")
        #expect(client.copyMatching(item) == Answer(status: errSecSuccess, result: nil))
        for (key, value) in item where key != kSecClass {
            let other: PlainValue = value == true ? false : value == 12 || value == 13 || value == 80 ? 7 : "other"
            #expect(client.status(item.with([key: other])) != errSecSuccess, "\(key)")
        }
    }

    @Test("8.2/20: the attributes that were returned are a query for the same item", arguments: Transport.all)
    func attributesAsQuery(_ transport: Transport) throws {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a").with([
            kSecAttrLabel: "l", kSecAttrGeneric: .data([0, 255]), kSecAttrIsInvisible: 1, kSecAttrCreator: 5,
        ])
        add(item, "one")
        add(.generic("s", "b"), "two")
        let returned: [String: PlainValue] = [kSecReturnAttributes: true, kSecReturnData: true]
        let found = try #require(client.copyMatching(item.with(returned)).result).values
        #expect(found[kSecValueData] == .bytes("one"))
        let query = found.without("sha1", kSecValueData).with([kSecClass: kSecClassGenericPassword])
        #expect(client.data(query) == .bytes("one"))
        add([String: PlainValue].internet("h", "a").with([kSecAttrPort: 22]), "three")
        let inet = try #require(client.copyMatching(.anyInternet.with([kSecReturnAttributes: true])).result).values
        #expect(inet[kSecAttrPath] == "" && inet[kSecAttrProtocol] == 0 && inet[kSecAttrPort] == 22)
        #expect(client.data(inet.with([kSecClass: kSecClassInternetPassword])) == .bytes("three"))
    }

    @Test(
        "8.2/21: LimitAll gives arrays: of data, of references, of dictionaries with exactly both",
        arguments: Transport.all
    )
    func limitAll(_ transport: Transport) throws {
        fixture.use(transport)
        for name in ["a", "b", "c"] { add(.generic("s", .text(name)), name) }
        let all = [String: PlainValue].anyGeneric.with([kSecMatchLimit: kSecMatchLimitAll])
        #expect(
            client.copyMatching(all.with([kSecReturnData: true])).result == [.bytes("a"), .bytes("b"), .bytes("c")])
        let references = try #require(client.copyMatching(all.with([kSecReturnPersistentRef: true])).result)
        #expect(references.count == 3 && references[0]?.bytes?.count == 20 && references[0] != references[1])
        let both = client.copyMatching(all.with([kSecReturnPersistentRef: true, kSecReturnData: true])).result
        #expect(both?[1]?.values == [kSecValueData: .bytes("b"), kSecValuePersistentRef: try #require(references[1])])
        #expect(client.copyMatching(all) == Answer(status: errSecSuccess, result: nil))
    }

    @Test(
        "3.2: an array wherever the limit is not one, never more than the limit, in the order of creation",
        arguments: Transport.all)
    func limits(_ transport: Transport) {
        fixture.use(transport)
        for name in ["z", "a", "m"] { add(.generic(.text(name), "x"), name) }
        func found(_ limit: PlainValue?) -> PlainValue? {
            var query = [String: PlainValue].anyGeneric.with([kSecReturnData: true])
            query[kSecMatchLimit] = limit
            return client.copyMatching(query).result
        }
        #expect(found(nil) == .bytes("z") && found(1) == .bytes("z") && found(kSecMatchLimitOne) == .bytes("z"))
        #expect(found(2) == [.bytes("z"), .bytes("a")] && found(2.0) == [.bytes("z"), .bytes("a")])
        #expect(found(100) == [.bytes("z"), .bytes("a"), .bytes("m")] && found(kSecMatchLimitAll) == found(100))
        #expect(
            client.delete(.generic("z", "x")) == errSecSuccess && client.delete(.generic("a", "x")) == errSecSuccess)
        #expect(found(2) == [.bytes("m")])
    }

    @Test(
        "3.2: the order of creation holds across services, groups and containers", arguments: Transport.all, [3, 100])
    func order(_ transport: Transport, services: Int) {
        fixture.use(transport)
        let client = client.entitled(["one", "two"])
        let names = (0..<3 * services).map { "\(($0 * 7) % (3 * services))" }
        for (index, name) in names.enumerated() {
            let item = [String: PlainValue].generic(.text("s\(index % services)"), .text(name)).with([
                kSecAttrSynchronizable: .boolean(index % 5 == 0), kSecAttrAccessGroup: index % 2 == 0 ? "two" : "one",
                kSecValueData: .bytes(name), kSecAttrLabel: "l",
            ])
            #expect(client.add(item).status == errSecSuccess)
        }
        let all: [String: PlainValue] = [
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true, kSecAttrSynchronizable: kSecAttrSynchronizableAny,
        ]
        #expect(client.copyMatching(.anyGeneric.with(all)).result == .list(names.map { .bytes($0) }))
        let labelled = client.copyMatching(.anyGeneric.with(all).with([kSecAttrLabel: "l"])).result
        #expect(labelled == .list(names.map { .bytes($0) }))
        let insensitive: [String: PlainValue] = [
            kSecAttrLabel: "L", kSecMatchCaseInsensitive: true, kSecAttrService: "S1",
        ]
        let expected = names.enumerated().filter { $0.offset % services == 1 }.map { PlainValue.bytes($0.element) }
        #expect(client.copyMatching(.anyGeneric.with(all).with(insensitive)).result == .list(expected))
        let service = client.copyMatching(.anyGeneric.with(all).with([kSecAttrService: "s1"])).result
        #expect(service == .list(expected))
    }

    @Test("8.2/22: data and attributes of an item without data: no v_Data", arguments: Transport.all)
    func noData(_ transport: Transport) {
        fixture.use(transport)
        add(.generic("s", "a"))
        let all: [String: PlainValue] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]
        let both = client.copyMatching(.anyGeneric.with(all).with([kSecReturnAttributes: true])).result
        #expect(both?.count == 1 && both?[0]?[kSecValueData] == nil)
        #expect(both?[0]?[kSecAttrService] == "s" && both?[0]?[kSecAttrAccount] == "a")
        #expect(client.copyMatching(.anyGeneric.with([kSecReturnData: true])) == Answer(status: 0, result: nil))
        #expect(client.copyMatching(.anyGeneric.with(all)) == Answer(status: 0, result: nil))
    }

    @Test(
        "8.2/23: attributes and reference, synchronizable or not: an array of one dictionary", arguments: Transport.all)
    func anySynchronizable(_ transport: Transport) {
        fixture.use(transport)
        add([String: PlainValue].generic("s", "a").with([kSecAttrSynchronizable: true]))
        let found = client.copyMatching(
            .anyGeneric.with([
                kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
                kSecAttrSynchronizable: kSecAttrSynchronizableAny,
            ])
        ).result
        #expect(found?.count == 1 && found?[0]?[kSecValuePersistentRef]?.bytes?.count == 20)
        #expect(found?[0]?[kSecAttrAccount] == "a")
    }

    @Test(
        "8.2/24: ReturnRef alone is success without a result; with others the class comes along",
        arguments: Transport.all)
    func references(_ transport: Transport) {
        fixture.use(transport)
        add(.generic("s", "a"), "x")
        #expect(client.copyMatching(.anyGeneric.with([kSecReturnRef: true])) == Answer(status: 0, result: nil))
        let found = client.copyMatching(.anyGeneric.with([kSecReturnRef: true, kSecReturnData: true])).result
        #expect(found?.values == [kSecClass: "genp", kSecValueData: .bytes("x")])
        let attributes = client.copyMatching(.anyGeneric.with([kSecReturnAttributes: true])).result
        #expect(attributes?[kSecClass] == nil && attributes?[kSecValueData] == nil)
    }

    @Test(
        "8.2/25: by persistent reference the same attributes as by attributes, with and without a hint",
        arguments: Transport.all)
    func byReference(_ transport: Transport) throws {
        fixture.use(transport)
        add([String: PlainValue].generic("s", "a").with([kSecAttrSynchronizable: true]), "x")
        add(.generic("s", "b"))
        let query = [String: PlainValue].generic("s", "a").with([kSecAttrSynchronizable: true])
        let reference = try #require(client.reference(query))
        #expect(reference.bytes?.count == 20)
        let asked: [String: PlainValue] = [kSecReturnAttributes: true]
        let byAttributes = client.copyMatching(query.with(asked)).result
        #expect(byAttributes?["persistref"] == nil && byAttributes?[kSecValuePersistentRef] == nil)
        let byReference: [String: PlainValue] = [kSecValuePersistentRef: reference]
        #expect(client.copyMatching(byReference.with(asked)).result == byAttributes)
        let fresh = fixture.newClient()
        #expect(fresh.copyMatching(byReference.with(asked)).result == byAttributes)
        #expect(client.copyMatching(byReference.with(asked).with([kSecClass: "genp"])).result == byAttributes)
        #expect(client.status(byReference.with([kSecClass: "inet"])) == errSecNoSuchClass)
        #expect(client.entitled(["other"]).status(byReference) == errSecItemNotFound)
        let all = client.copyMatching(byReference.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]))
        #expect(all.result == [.bytes("x")])
    }

    @Test(
        "8.2/26: a deleted item is not found by its reference; the next of its name has another one",
        arguments: Transport.all)
    func staleReference(_ transport: Transport) throws {
        fixture.use(transport)
        add(.generic("s", "a"))
        let reference = try #require(client.reference(.generic("s", "a")))
        #expect(client.delete(.generic("s", "a")) == errSecSuccess)
        #expect(client.status([kSecValuePersistentRef: reference]) == errSecItemNotFound)
        add(.generic("s", "a"))
        #expect(client.status([kSecValuePersistentRef: reference]) == errSecItemNotFound)
        #expect(client.reference(.generic("s", "a")) != reference)
    }

    @Test(
        "8.2/27: data is returned as data, and is the same key as the text", arguments: Transport.all)
    func types(_ transport: Transport) {
        fixture.use(transport)
        let item: [String: PlainValue] = [kSecClass: kSecClassInternetPassword, kSecAttrServer: .bytes("host")]
        add(item.with([kSecAttrAccount: .bytes("me"), kSecAttrLabel: .bytes("l"), kSecAttrProtocol: "htps"]))
        let found = client.copyMatching(item.with([kSecReturnAttributes: true])).result
        #expect(found?[kSecAttrServer] == .bytes("host") && found?[kSecAttrAccount] == .bytes("me"))
        #expect(found?[kSecAttrLabel] == .bytes("l") && found?[kSecAttrProtocol] == "htps")
        let text = [String: PlainValue].internet("host", "me").with([kSecAttrProtocol: "htps"])
        #expect(client.status(text.with([kSecAttrLabel: "l"])) == errSecSuccess)
        #expect(client.add(text).status == errSecDuplicateItem)
        add(
            [String: PlainValue].generic("s", "a").with([
                kSecAttrGeneric: "text", kSecAttrCreator: "42", kSecAttrType: "abcd", kSecAttrIsInvisible: true,
                kSecAttrComment: 7,
            ]))
        let generic = client.copyMatching(.anyGeneric.with([kSecReturnAttributes: true])).result
        #expect(generic?[kSecAttrGeneric] == "text" && generic?[kSecAttrCreator] == 42)
        #expect(generic?[kSecAttrType] == "abcd" && generic?[kSecAttrIsInvisible] == 1)
        #expect(generic?[kSecAttrComment] == 7)
    }

    @Test("8.2/29: data that is not requested is not decrypted", arguments: Transport.all)
    func metadataOnly(_ transport: Transport) {
        fixture.use(transport)
        for name in ["a", "b"] { add(.generic("s", .text(name)), name) }
        let before = fixture.store.secretReads
        #expect(client.count(.anyGeneric) == 2)
        #expect(client.status(.generic("s", "a")) == errSecSuccess && client.reference(.generic("s", "a")) != nil)
        #expect(client.update(.generic("s", "a"), [kSecAttrLabel: "x"]) == errSecSuccess)
        #expect(fixture.store.secretReads == before)
        #expect(client.data([String: PlainValue].anyGeneric.with([kSecAttrLabel: "x"])) == .bytes("a"))
        #expect(fixture.store.secretReads == before + 1)
    }

    @Test("8.2/30: HostOrSubdomainOfHost, which filters before the limit does", arguments: Transport.all)
    func hosts(_ transport: Transport) {
        fixture.use(transport)
        for host in ["notexample.com", "sub.example.com", "example.com"] { add(.internet(.text(host), "a"), host) }
        add([kSecClass: kSecClassInternetPassword, kSecAttrServer: .bytes("data.example.com")])
        func found(_ host: PlainValue) -> PlainValue? {
            client.copyMatching(
                .anyInternet.with([
                    kSecMatchHostOrSubdomainOfHost: host, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll,
                ])
            ).result
        }
        #expect(found("example.com") == [.bytes("sub.example.com"), .bytes("example.com")])
        #expect(found("sub.example.com") == [.bytes("sub.example.com")])
        #expect(found("other.com") == nil)
        let one = client.data(.anyInternet.with([kSecMatchHostOrSubdomainOfHost: "example.com"]))
        #expect(one == .bytes("sub.example.com"))
        #expect(client.status(.anyGeneric.with([kSecMatchHostOrSubdomainOfHost: "e"])) == errSecUnimplemented)
        #expect(client.status(.anyInternet.with([kSecMatchHostOrSubdomainOfHost: 1])) == errSecParam)
    }

    @Test("8.2/34: a client without groups; an item in a group that the client has lost", arguments: Transport.all)
    func entitlements(_ transport: Transport) {
        fixture.use(transport)
        let item = [String: PlainValue].generic("s", "a")
        let own = client.entitled(["mine"]), other = client.entitled(["other"]), none = client.entitled([])
        #expect(own.add(item).status == errSecSuccess)
        #expect(none.status(item) == errSecMissingEntitlement)
        #expect(none.update(item, [kSecAttrLabel: "x"]) == errSecMissingEntitlement)
        #expect(other.status(item) == errSecItemNotFound && other.delete(item) == errSecItemNotFound)
        #expect(other.update(item, [kSecAttrLabel: "x"]) == errSecItemNotFound)
        let explicit = item.with([kSecAttrAccessGroup: "mine"])
        #expect(
            other.status(explicit) == errSecMissingEntitlement && other.delete(explicit) == errSecMissingEntitlement)
        #expect(other.update(explicit, [kSecAttrLabel: "x"]) == errSecMissingEntitlement)
        #expect(other.add(explicit).status == errSecMissingEntitlement)
        #expect(client.entitled(["*"]).status(item) == errSecSuccess, "all groups")
        #expect(own.status(explicit) == errSecSuccess && own.attribute(kSecAttrLabel, item) == nil)
    }

    @Test("8.2/37: a damaged item is as if it were not there, and the others are", arguments: Transport.all)
    func damaged(_ transport: Transport) throws {
        fixture.use(transport)
        for name in ["a", "b"] { add(.generic("s", .text(name)), name) }
        try fixture.damage(.generic("s", "a"))
        #expect(client.status(.generic("s", "a")) == errSecItemNotFound)
        let all = [String: PlainValue].anyGeneric.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])
        #expect(client.copyMatching(all).result == [.bytes("b")])
        #expect(client.copyMatching(all.with([kSecAttrService: "s"])).result == [.bytes("b")])
    }

    @Test("3.4: part of an internet key; parts that are not set are 0 and empty", arguments: Transport.all)
    func parts(_ transport: Transport) {
        fixture.use(transport)
        add([String: PlainValue].internet("h", "a").with([kSecAttrPort: 22]), "ssh")
        add([String: PlainValue].internet("h", "a").with([kSecAttrProtocol: "htps"]), "https")
        add([String: PlainValue].internet("h", "b"), "plain")
        let all: [String: PlainValue] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]
        func found(_ terms: [String: PlainValue]) -> PlainValue? {
            client.copyMatching(.anyInternet.with(all).with(terms)).result
        }
        #expect(found([kSecAttrServer: "h"]) == [.bytes("ssh"), .bytes("https"), .bytes("plain")])
        #expect(found([kSecAttrServer: "h", kSecAttrAccount: "a"]) == [.bytes("ssh"), .bytes("https")])
        #expect(found([kSecAttrAccount: "a"]) == [.bytes("ssh"), .bytes("https")])
        #expect(found([kSecAttrPort: 22]) == [.bytes("ssh")] && found([kSecAttrPort: "22"]) == [.bytes("ssh")])
        #expect(found([kSecAttrPort: 0]) == [.bytes("https"), .bytes("plain")])
        #expect(found([kSecAttrProtocol: ""]) == [.bytes("ssh"), .bytes("plain")])
        #expect(found([kSecAttrPath: ""]) == [.bytes("ssh"), .bytes("https"), .bytes("plain")])
        #expect(found([kSecAttrLabel: ""]) == nil, "what is not set is not empty")
        let complete: [String: PlainValue] = [
            kSecAttrServer: "h", kSecAttrPort: 0, kSecAttrProtocol: "htps", kSecAttrPath: "",
            kSecAttrSecurityDomain: "", kSecAttrAuthenticationType: "",
        ]
        #expect(found(complete) == [.bytes("https")])
        add([kSecClass: kSecClassGenericPassword], "bare")
        #expect(client.data(.generic("", "")) == .bytes("bare"))
    }

    @Test("3.6: without regard to case, subjects are labels", arguments: Transport.all)
    func matches(_ transport: Transport) {
        fixture.use(transport)
        add([String: PlainValue].generic("Mail", "Ann").with([kSecAttrLabel: "Groß"]), "one")
        add([String: PlainValue].generic("mail", "bob").with([kSecAttrLabel: "klein und groß"]), "two")
        let all: [String: PlainValue] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]
        func found(_ terms: [String: PlainValue], _ anyCase: Bool = false) -> PlainValue? {
            client.copyMatching(.anyGeneric.with(all).with(terms).with([kSecMatchCaseInsensitive: .boolean(anyCase)]))
                .result
        }
        #expect(found([kSecAttrService: "MAIL"]) == nil)
        #expect(found([kSecAttrService: "MAIL"], true) == [.bytes("one"), .bytes("two")])
        #expect(found([kSecAttrAccount: "BOB"], true) == [.bytes("two")])
        #expect(found([kSecMatchSubjectContains: "groß"]) == [.bytes("two")])
        #expect(found([kSecMatchSubjectContains: "GROß"], true) == [.bytes("one"), .bytes("two")])
        #expect(found([kSecMatchSubjectStartsWith: "Gr"]) == [.bytes("one")])
        #expect(found([kSecMatchSubjectEndsWith: "oß"]) == [.bytes("one"), .bytes("two")])
        #expect(found([kSecMatchSubjectWholeString: "groß"], true) == [.bytes("one")])
        #expect(found([kSecMatchSubjectWholeString: "groß"]) == nil)
        #expect(found([kSecMatchSubjectContains: ""]) == [.bytes("one"), .bytes("two")])
        #expect(client.status(.anyGeneric.with([kSecMatchSubjectContains: 1])) == errSecParam)
        #expect(client.status(.anyGeneric.with(["m_DiacriticInsensitive": true])) == errSecUnimplemented)
    }

    @Test("2.3: the class of an item is one of its attributes", arguments: Transport.all)
    func accessible(_ transport: Transport) {
        fixture.use(transport)
        add([String: PlainValue].generic("s", "a").with([kSecAttrAccessible: "ck"]), "x")
        add([String: PlainValue].generic("s", "b"), "y")
        #expect(client.data(.anyGeneric.with([kSecAttrAccessible: "ck"])) == .bytes("x"))
        #expect(client.status(.anyGeneric.with([kSecAttrAccessible: "dk"])) == errSecItemNotFound)
        #expect(client.status(.anyGeneric.with([kSecAttrAccessible: "unknown"])) == errSecParam)
        #expect(client.status(.anyGeneric.with(["tomb": 1])) == errSecItemNotFound)
        #expect(client.data([String: PlainValue].generic("s", "a").with(["tomb": 0])) == .bytes("x"))
    }
}
