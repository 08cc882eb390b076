import Keychain
import KeychainTesting
import SecItemTesting
import Testing

@Suite("What a dictionary may hold, reference 8.6, 8.8 and 3.14")
struct ParsingCases {
    private let fixture: CaseFixture
    private var client: any SecItemClient { fixture.client }
    private let item = [String: Plain].generic("s", "a")

    init() throws {
        fixture = try CaseFixture()
        #expect(fixture.client.add(item.with([kSecValueData: .bytes("x")])).status == errSecSuccess)
    }

    private func status(_ terms: [String: Plain]) -> Int32 { client.status(item.with(terms)) }

    @Test(
        "8.8/82: no class, no such class, no such attribute, limits and return keys of wrong types",
        arguments: Route.all)
    func wrong(_ route: Route) {
        fixture.use(route)
        #expect(client.status([:]) == errSecParam && client.add([:]).status == errSecParam)
        #expect(client.delete([:]) == errSecParam && client.update([:], [:]) == errSecParam)
        #expect(client.status([kSecAttrAccount: "a"]) == errSecParam)
        for name in ["apls", "nope", "cert", "keys", "idnt"] {
            #expect(client.status([kSecClass: .text(name)]) == errSecNoSuchClass)
        }
        #expect(client.status([kSecClass: 1]) == errSecParam)
        #expect(status(["zzzz": 1]) == errSecNoSuchAttr)
        for limit in ["bogus", true, .data([1]), .null, -1, 1.5] as [Plain] {
            #expect(status([kSecMatchLimit: limit]) == errSecParam)
        }
        for value in ["yes", 1, .null] as [Plain] { #expect(status([kSecReturnData: value]) == errSecParam) }
    }

    @Test(
        "1.2: keys of one letter, of no family, unknown ones of a family; NULL for any key; too many keys",
        arguments: Route.all)
    func dispatch(_ route: Route) {
        fixture.use(route)
        for key in ["x", "", "f", "other", "r_Other", "u_Other", "v_Other", "classes", "account"] {
            #expect(status([key: true]) == errSecParam, "\(key)")
        }
        #expect(status(["m_Other": 1]) == errSecSuccess && status(["f_flags": 1]) == errSecSuccess)
        for key in [kSecAttrAccount, kSecMatchCaseInsensitive, kSecReturnData, "u_OpPrompt"] {
            #expect(status([key: .null]) == errSecParam, "\(key)")
        }
        #expect(status(["m_ValidOnDate": .null]) == errSecSuccess)
        let many = Dictionary(uniqueKeysWithValues: (0..<130).map { ("f_\($0)", Plain.number(1)) })
        #expect(status(many) == errSecParam)
    }

    @Test("1.2: values that an attribute cannot hold", arguments: Route.all)
    func coercions(_ route: Route) {
        fixture.use(route)
        for (key, value) in [
            (kSecAttrAccount, true), (kSecAttrAccount, .list([1])), (kSecAttrAccessGroup, 1),
            (kSecAttrAccessGroup, .data([0xFF])), (kSecAttrCreationDate, "now"), (kSecAttrCreationDate, 1),
            (kSecAttrCreator, .data([1])), (kSecAttrCreator, 1.5), (kSecAttrIsInvisible, "yes"),
            (kSecAttrSynchronizable, "yes"), (kSecAttrAccessible, 6), ("sha1", 1),
        ] as [(String, Plain)] {
            #expect(status([key: value]) == errSecParam, "\(key)")
        }
        #expect(status([kSecAttrAccessGroup: .bytes("default")]) == errSecSuccess)
        #expect(status([kSecAttrSynchronizable: "0"]) == errSecSuccess)
        #expect(client.add(.generic(5, 6.0)).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccount, .generic("5", 6)) == "6")
    }

    @Test(
        "T3: attributes of Apple's key that nothing here has", arguments: Route.all, ["tkid", "vwht", "musr", "ggrp"])
    func refused(_ route: Route, _ key: String) {
        fixture.use(route)
        #expect(status([key: ""]) == errSecParam)
        #expect(client.add([String: Plain].generic("t", "b").with([key: "x"])).status == errSecParam)
    }

    @Test("8.8/83: a persistent reference with an attribute, or malformed", arguments: Route.all)
    func references(_ route: Route) throws {
        fixture.use(route)
        let reference = try #require(client.reference(item))
        #expect(client.status([kSecValuePersistentRef: reference]) == errSecSuccess)
        for (key, value) in [
            (kSecAttrAccount, "a"), (kSecAttrSynchronizable, false), (kSecAttrAccessGroup, "default"),
        ] as [(String, Plain)] {
            #expect(client.status([kSecValuePersistentRef: reference, key: value]) == errSecParam)
        }
        let any: [String: Plain] = [kSecAttrSynchronizable: kSecAttrSynchronizableAny]
        #expect(client.status(any.with([kSecValuePersistentRef: reference])) == errSecSuccess)
        let bytes = try #require(reference.bytes)
        for malformed: Plain in [.data([]), .data(bytes + [0]), .data(Array("xxxx".utf8) + bytes.dropFirst(4)), "text"]
        {
            #expect(client.status([kSecValuePersistentRef: malformed]) == errSecParam)
        }
        let certificate = Plain.data(Array("cert".utf8) + bytes.dropFirst(4))
        #expect(client.status([kSecValuePersistentRef: certificate]) == errSecItemNotFound)
        let again = [String: Plain].generic("s", "b").with([kSecValuePersistentRef: reference])
        #expect(client.add(again).status == errSecSuccess)
        #expect(client.reference(.generic("s", "b")) != reference, "a reference of its own")
    }

    @Test(
        "8.8/84: skipping what needs a person is for searches; two contexts at once are for nobody",
        arguments: Route.all)
    func interface(_ route: Route) {
        fixture.use(route)
        let skip: [String: Plain] = ["u_AuthUI": "u_AuthUIS"]
        #expect(status(skip) == errSecSuccess)
        #expect(client.add([String: Plain].generic("s", "b").with(skip)).status == errSecParam)
        #expect(client.update(item.with(skip), [kSecAttrLabel: "l"]) == errSecParam)
        #expect(client.delete(item.with(skip)) == errSecParam)
        #expect(status(["u_AuthUI": "u_AuthUIF"]) == errSecSuccess && status(["u_AuthUI": "other"]) == errSecParam)
        #expect(status(["u_AuthCtx": .object]) == errSecSuccess)
        #expect(status(["u_AuthCtx": .object, "u_CredRef": .object]) == errSecParam)
        #expect(status(["u_ItemList": []]) == errSecParam && status(["m_ItemList": []]) == errSecParam)
        #expect(status(["nleg": true, "u_OpPrompt": "why", "u_NoAuthUI": true]) == errSecSuccess)
        #expect(status(["m_Issuers": []]) == errSecUnimplemented)
    }

    @Test("8.6/69, 3.14: an access control is kept, decides the class, and must not contradict", arguments: Route.all)
    func accessControl(_ route: Route) {
        fixture.use(route)
        func control(_ protection: Protection, _ flags: Int64) -> Plain {
            .accessControl(AccessControl(protection: protection, flags: flags))
        }
        let presence = control(.afterFirstUnlock, 1)
        let other = [String: Plain].generic("s", "b")
        #expect(
            client.add(other.with([kSecAttrAccessControl: presence, kSecAttrSynchronizable: true])).status
                == errSecParam)
        #expect(
            client.add(other.with([kSecAttrAccessControl: presence, kSecAttrAccessible: "ak"])).status == errSecParam)
        #expect(
            client.add(other.with([kSecAttrAccessControl: presence, kSecAttrAccessible: "ck"])).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessControl, other) == presence)
        #expect(client.attribute(kSecAttrAccessible, other) == "ck")
        #expect(client.status(other.with([kSecAttrAccessControl: presence])) == errSecSuccess)
        #expect(
            client.status(other.with([kSecAttrAccessControl: control(.afterFirstUnlock, 16)])) == errSecItemNotFound)
        #expect(client.update(other, [kSecAttrSynchronizable: true]) == errSecParam)
        #expect(client.update(other, [kSecAttrAccessible: "ak"]) == errSecSuccess)
        #expect(
            client.attribute(kSecAttrAccessControl, other) == nil && client.attribute(kSecAttrAccessible, other) == "ak"
        )
        #expect(client.update(other, [kSecAttrAccessControl: control(.whenUnlocked, 0)]) == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessControl, other) == nil)
        #expect(client.update(other, [kSecAttrSynchronizable: true]) == errSecSuccess)
    }

    @Test(
        "8.6/67: an access control that needs what there is not, or contradicts itself, is refused",
        arguments: Route.all)
    func unsupportedControl(_ route: Route) {
        fixture.use(route)
        for flags: Int64 in [1 << 1, 1 << 3, 1 << 30, 1 << 31, 1 << 14 | 1 << 15, -1] {
            let control = Plain.accessControl(AccessControl(protection: .whenUnlocked, flags: flags))
            #expect(
                client.add([String: Plain].generic("s", "b").with([kSecAttrAccessControl: control])).status
                    == errSecParam)
        }
    }
}
