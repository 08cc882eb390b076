import Keychain
import KeychainTesting
import SecItemTesting
import Testing

@Suite("What a dictionary may hold, reference 8.6, 8.8 and 3.14")
struct ParsingCases {
    private let fixture: CaseFixture
    private var client: any SecItemClient { fixture.client }
    private let item = [String: PlainValue].generic("s", "a")

    init() throws {
        fixture = try CaseFixture()
        #expect(fixture.client.add(item.with([kSecValueData: .bytes("x")])).status == errSecSuccess)
    }

    private func status(_ terms: [String: PlainValue]) -> Int32 { client.status(item.with(terms)) }

    @Test(
        "8.8/82: no class, no such class, no such attribute, limits and return keys of wrong types",
        arguments: Transport.all)
    func wrong(_ transport: Transport) {
        fixture.use(transport)
        #expect(client.status([:]) == errSecParam && client.add([:]).status == errSecParam)
        #expect(client.delete([:]) == errSecParam && client.update([:], [:]) == errSecParam)
        #expect(client.status([kSecAttrAccount: "a"]) == errSecParam)
        for name in ["apls", "nope", ""] {
            #expect(client.status([kSecClass: .text(name)]) == errSecNoSuchClass)
            #expect(client.delete([kSecClass: .text(name)]) == errSecNoSuchClass)
            #expect(client.update([kSecClass: .text(name)], [:]) == errSecNoSuchClass)
            #expect(client.add([kSecClass: .text(name)]).status == errSecNoSuchClass)
        }
        #expect(client.status([kSecClass: 1]) == errSecParam)
        #expect(status(["zzzz": 1]) == errSecNoSuchAttr)
        for limit in ["bogus", true, .data([1]), .null, -1, 1.5] as [PlainValue] {
            #expect(status([kSecMatchLimit: limit]) == errSecParam)
        }
        for value in ["yes", 1, .null] as [PlainValue] { #expect(status([kSecReturnData: value]) == errSecParam) }
    }

    @Test(
        "1.2: keys of one letter, of no family, unknown ones of a family; NULL for any key; too many keys",
        arguments: Transport.all)
    func dispatch(_ transport: Transport) {
        fixture.use(transport)
        for key in ["x", "", "f", "other", "r_Other", "u_Other", "v_Other", "classes", "account"] {
            #expect(status([key: true]) == errSecParam, "\(key)")
        }
        #expect(status(["m_Other": 1]) == errSecSuccess && status(["f_flags": 1]) == errSecSuccess)
        for key in [kSecAttrAccount, kSecMatchCaseInsensitive, kSecReturnData, "u_OpPrompt"] {
            #expect(status([key: .null]) == errSecParam, "\(key)")
        }
        #expect(status(["m_ValidOnDate": .null]) == errSecSuccess)
        let many = Dictionary(uniqueKeysWithValues: (0..<130).map { ("f_\($0)", PlainValue.number(1)) })
        #expect(status(many) == errSecParam)
    }

    @Test("1.2: values that an attribute cannot hold", arguments: Transport.all)
    func coercions(_ transport: Transport) {
        fixture.use(transport)
        for (key, value) in [
            (kSecAttrAccount, true), (kSecAttrAccount, .list([1])), (kSecAttrAccessGroup, 1),
            (kSecAttrAccessGroup, .data([0xFF])), (kSecAttrCreationDate, "now"), (kSecAttrCreationDate, 1),
            (kSecAttrCreator, .data([1])), (kSecAttrCreator, 1.5), (kSecAttrIsInvisible, "yes"),
            (kSecAttrSynchronizable, "yes"), (kSecAttrAccessible, 6), ("sha1", 1),
        ] as [(String, PlainValue)] {
            #expect(status([key: value]) == errSecParam, "\(key)")
        }
        #expect(status([kSecAttrAccessGroup: .bytes("default")]) == errSecSuccess)
        #expect(status([kSecAttrSynchronizable: "0"]) == errSecSuccess)
        #expect(client.add(.generic(5, 6.0)).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccount, .generic("5", 6)) == "6")
    }

    @Test(
        "T3: attributes of Apple's key that nothing here has", arguments: Transport.all,
        ["tkid", "vwht", "musr", "ggrp"])
    func refused(_ transport: Transport, _ key: String) {
        fixture.use(transport)
        #expect(status([key: ""]) == errSecParam)
        #expect(client.add([String: PlainValue].generic("t", "b").with([key: "x"])).status == errSecParam)
    }

    @Test("8.8/83: a persistent reference with an attribute, or malformed", arguments: Transport.all)
    func references(_ transport: Transport) throws {
        fixture.use(transport)
        let reference = try #require(client.reference(item))
        #expect(client.status([kSecValuePersistentRef: reference]) == errSecSuccess)
        for (key, value) in [
            (kSecAttrAccount, "a"), (kSecAttrSynchronizable, false), (kSecAttrAccessGroup, "default"),
        ] as [(String, PlainValue)] {
            #expect(client.status([kSecValuePersistentRef: reference, key: value]) == errSecParam)
        }
        let any: [String: PlainValue] = [kSecAttrSynchronizable: kSecAttrSynchronizableAny]
        #expect(client.status(any.with([kSecValuePersistentRef: reference])) == errSecSuccess)
        let bytes = try #require(reference.bytes)
        for malformed: PlainValue in [
            .data([]), .data(bytes + [0]), .data(Array("xxxx".utf8) + bytes.dropFirst(4)), "text",
        ] {
            #expect(client.status([kSecValuePersistentRef: malformed]) == errSecParam)
        }
        let certificate = PlainValue.data(Array("cert".utf8) + bytes.dropFirst(4))
        #expect(client.status([kSecValuePersistentRef: certificate]) == errSecItemNotFound)
        let again = [String: PlainValue].generic("s", "b").with([kSecValuePersistentRef: reference])
        #expect(client.add(again).status == errSecSuccess)
        #expect(client.reference(.generic("s", "b")) != reference, "a reference of its own")
    }

    @Test(
        "8.8/84: only a search may skip authentication; a query with two kinds of context is refused",
        arguments: Transport.all)
    func interface(_ transport: Transport) {
        fixture.use(transport)
        let skip: [String: PlainValue] = ["u_AuthUI": "u_AuthUIS"]
        #expect(status(skip) == errSecSuccess)
        #expect(client.add([String: PlainValue].generic("s", "b").with(skip)).status == errSecParam)
        #expect(client.update(item.with(skip), [kSecAttrLabel: "l"]) == errSecParam)
        #expect(client.delete(item.with(skip)) == errSecParam)
        #expect(status(["u_AuthUI": "u_AuthUIF"]) == errSecSuccess && status(["u_AuthUI": "other"]) == errSecParam)
        #expect(status(["u_AuthCtx": .object]) == errSecSuccess)
        #expect(status(["u_AuthCtx": .object, "u_CredRef": .object]) == errSecParam)
        #expect(status(["u_ItemList": []]) == errSecParam && status(["m_ItemList": []]) == errSecParam)
        #expect(status(["nleg": true, "u_OpPrompt": "why", "u_NoAuthUI": true]) == errSecSuccess)
        #expect(status(["m_Issuers": []]) == errSecUnimplemented)
    }

    @Test(
        "8.6/69, 3.14: an access control is kept, decides the class, and must not contradict", arguments: Transport.all)
    func accessControl(_ transport: Transport) {
        fixture.use(transport)
        func control(_ protection: ProtectionClass, _ flags: Int64) -> PlainValue {
            .accessControl(AccessControl(protection: protection, flags: flags))
        }
        let presence = control(.afterFirstUnlock, 1)
        let other = [String: PlainValue].generic("s", "b")
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
        "8.6/67, 68: SecItemAdd and SecItemUpdate refuse an access control that cannot be enforced; searches match nothing",
        arguments: Transport.all,
        [
            1 << 1, 1 << 3, 1 << 5, 1 << 30, 1 << 31, 1 << 2, 1 << 20, 1 << 0 | 1 << 31, 1 << 1 | 1 << 4,
            1 << 1 | 1 << 4 | 1 << 15, 1 << 1 | 1 << 14, 1 << 4 | 1 << 14 | 1 << 31, 1 << 4 | 1 << 14 | 1 << 30,
            1 << 14 | 1 << 15, 1 << 4 | 1 << 14 | 1 << 15, -1,
        ] as [Int64])
    func unsupportedControl(_ transport: Transport, _ flags: Int64) {
        fixture.use(transport)
        let control: [String: PlainValue] = [
            kSecAttrAccessControl: .accessControl(AccessControl(protection: .whenUnlocked, flags: flags))
        ]
        let other = [String: PlainValue].generic("s", "b")
        #expect(client.add(other.with(control)).status == errSecParam)
        #expect(client.status(other) == errSecItemNotFound)
        #expect(client.update(item, control.with([kSecValueData: .bytes("y")])) == errSecParam)
        #expect(client.data(item) == .bytes("x") && client.attribute(kSecAttrAccessControl, item) == nil)
        #expect(status(control) == errSecItemNotFound)
        #expect(client.update(item.with(control), [kSecAttrLabel: "l"]) == errSecItemNotFound)
        #expect(client.delete(item.with(control)) == errSecItemNotFound)
        #expect(status([:]) == errSecSuccess)
    }

    @Test(
        "8.6/68: SecItemAdd and SecItemUpdate store an access control that the unlocked keychain satisfies",
        arguments: Transport.all,
        [
            1 << 0, 1 << 4, 1 << 14, 1 << 15, 1 << 4 | 1 << 15, 1 << 4 | 1 << 14, 1 << 1 | 1 << 4 | 1 << 14,
            1 << 3 | 1 << 4 | 1 << 14, 1 << 5 | 1 << 4 | 1 << 14,
        ] as [Int64])
    func supportedControl(_ transport: Transport, _ flags: Int64) {
        fixture.use(transport)
        let control = PlainValue.accessControl(AccessControl(protection: .whenUnlocked, flags: flags))
        let other = [String: PlainValue].generic("s", "b")
        #expect(client.add(other.with([kSecAttrAccessControl: control])).status == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessControl, other) == control)
        #expect(client.update(item, [kSecAttrAccessControl: control]) == errSecSuccess)
        #expect(client.attribute(kSecAttrAccessControl, item) == control && client.data(item) == .bytes("x"))
    }

    @Test(
        "1.2: match keys outside a search are errSecParam, regardless of their value",
        arguments: Transport.all,
        [
            kSecMatchHostOrSubdomainOfHost, "m_Issuers", "m_Policy", "m_DiacriticInsensitive", "m_WidthInsensitive",
            kSecMatchCaseInsensitive, kSecMatchSubjectContains, kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith,
            kSecMatchSubjectWholeString, "m_EmailAddressIfPresent", "m_TrustedOnly", "m_ValidOnDate", "m_ItemList",
            "m_SearchList", "m_Other",
        ])
    func matchKeys(_ transport: Transport, _ key: String) {
        fixture.use(transport)
        for value in [true, "text", .list([]), 1, .date(KeychainDate(seconds: 0))] as [PlainValue] {
            #expect(client.add([String: PlainValue].generic("s", "b").with([key: value])).status == errSecParam)
            #expect(client.update(item.with([key: value]), [kSecAttrLabel: "l"]) == errSecParam)
            #expect(client.update(item, [key: value]) == errSecNoSuchAttr)
            #expect(client.delete(item.with([key: value])) == errSecParam)
        }
        #expect(client.count(.anyGeneric) == 1)
    }

    @Test("1.2: match keys that a search does not support, and values of wrong types", arguments: Transport.all)
    func unsupportedMatchKeys(_ transport: Transport) {
        fixture.use(transport)
        for (key, value) in [
            (kSecMatchHostOrSubdomainOfHost, "host"), ("m_Issuers", .list([])), ("m_Policy", .object),
            ("m_DiacriticInsensitive", true), ("m_WidthInsensitive", true),
        ] as [(String, PlainValue)] {
            #expect(status([key: value]) == errSecUnimplemented, "\(key)")
        }
        for (key, value) in [
            ("m_DiacriticInsensitive", "yes"), (kSecMatchCaseInsensitive, 1), (kSecMatchSubjectContains, true),
            ("m_EmailAddressIfPresent", 1), ("m_TrustedOnly", 1), ("m_ValidOnDate", "now"), ("m_ItemList", .list([])),
            ("m_SearchList", .list([])),
        ] as [(String, PlainValue)] {
            #expect(status([key: value]) == errSecParam, "\(key)")
        }
        for (key, value) in [
            ("m_DiacriticInsensitive", false), ("m_WidthInsensitive", false), ("m_TrustedOnly", true), ("m_Other", 1),
            ("m_EmailAddressIfPresent", "a"), ("m_ValidOnDate", .date(KeychainDate(seconds: 0))),
        ] as [(String, PlainValue)] {
            #expect(status([key: value]) == errSecSuccess, "\(key)")
        }
    }

    @Test(
        "1.2: classes without items match nothing and take no item; the other keys are checked first",
        arguments: Transport.all, ["cert", "keys", "idnt"])
    func classesWithoutItems(_ transport: Transport, _ name: String) throws {
        fixture.use(transport)
        let query: [String: PlainValue] = [kSecClass: .text(name)]
        for more: [String: PlainValue] in [
            [:], ["kcls": "0", "tkid": "com.apple.setoken", "type": "73"], ["slnr": .data([1]), "bsiz": 256],
            [kSecMatchLimit: kSecMatchLimitAll, kSecAttrSynchronizable: kSecAttrSynchronizableAny],
            [kSecAttrAccessGroup: "default", kSecAttrAccessible: "ak"],
        ] {
            #expect(client.status(query.with(more)) == errSecItemNotFound)
            #expect(client.delete(query.with(more)) == errSecItemNotFound)
            #expect(client.update(query.with(more), [kSecAttrLabel: "l"]) == errSecItemNotFound)
            #expect(client.add(query.with(more)).status == errSecNoSuchClass)
        }
        #expect(client.add(query.with([kSecValueRef: .object])).status == errSecNoSuchClass)
        #expect(client.status(query.with([kSecReturnRef: true])) == errSecItemNotFound)
        for (key, value) in [
            (kSecAttrSynchronizable, "yes"), (kSecAttrAccessible, 6), (kSecMatchLimit, "bogus"), (kSecReturnData, 1),
            (kSecAttrAccessControl, 1), ("clip", 1), ("x", 1), ("m_ItemList", .list([])),
        ] as [(String, PlainValue)] {
            #expect(client.status(query.with([key: value])) == errSecParam, "\(key)")
        }
        #expect(client.delete(query.with([kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
        #expect(client.delete(query.with([kSecMatchCaseInsensitive: true])) == errSecParam)
        #expect(client.update(query.with([kSecReturnData: true]), [:]) == errSecParam)
        #expect(client.status(query.with([kSecAttrAccessGroup: "foreign"])) == errSecMissingEntitlement)
        #expect(client.entitled([]).delete(query) == errSecMissingEntitlement)
        let bytes = try #require(client.reference(item)?.bytes)
        let reference: [String: PlainValue] = [kSecValuePersistentRef: .data(Array(name.utf8) + bytes.dropFirst(4))]
        #expect(client.delete(query.with(reference)) == errSecItemNotFound)
        #expect(client.delete(reference) == errSecItemNotFound)
        #expect(client.delete(reference.with([kSecAttrAccessGroup: "default"])) == errSecItemNotFound)
        #expect(client.status(reference.with([kSecAttrAccessGroup: "default"])) == errSecParam)
        #expect(client.delete(query.with([kSecValuePersistentRef: .data(bytes)])) == errSecNoSuchClass)
        #expect(client.delete(item.with(reference)) == errSecNoSuchClass)
        #expect(client.count(.anyGeneric) == 1)
    }

    @Test("1.2: a logout that deletes every class succeeds", arguments: Transport.all)
    func logout(_ transport: Transport) {
        fixture.use(transport)
        #expect(client.add(.internet("h", "a")).status == errSecSuccess)
        let codes: [PlainValue] = [kSecClassGenericPassword, kSecClassInternetPassword, "cert", "keys", "idnt"]
        let statuses = codes.map { client.delete([kSecClass: $0]) }
        #expect(statuses == [0, 0, errSecItemNotFound, errSecItemNotFound, errSecItemNotFound])
        #expect(client.count(.anyGeneric) == 0 && client.count(.anyInternet) == 0)
    }
}
