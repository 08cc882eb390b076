import Keychain
import KeychainTesting
import SecItemTesting
import Testing

@Suite("SecItemUpdate, reference 8.3")
struct UpdateCases {
    private let fixture: CaseFixture
    private var client: any SecItemClient { fixture.client }
    private let item = [String: PlainValue].generic("s", "a")

    init() throws { fixture = try CaseFixture() }

    private func add(_ item: [String: PlainValue], _ secret: String = "x") {
        #expect(client.add(item.with([kSecValueData: .bytes(secret)])).status == errSecSuccess)
    }

    @Test("8.3/39: another server moves the item: the old query finds nothing any more", arguments: Transport.all)
    func server(_ transport: Transport) throws {
        fixture.use(transport)
        let old = [String: PlainValue].internet("old.com", "a"), new = [String: PlainValue].internet("new.com", "a")
        add(old)
        #expect(client.update(old, [kSecAttrServer: "new.com"]) == errSecSuccess)
        let (before, after) = (InternetService(server: .string("old.com")), InternetService(server: .string("new.com")))
        #expect(
            fixture.changed {
                $0.first?.old?.service == .internet(before) && $0.first?.new?.service == .internet(after)
            })
        #expect(client.update(old, [kSecAttrServer: "new.com"]) == errSecItemNotFound)
        #expect(client.delete(old) == errSecItemNotFound)
        #expect(client.data(new) == .bytes("x"))
        #expect(client.delete(new) == errSecSuccess)
        #expect(try fixture.keychain.check().isConsistent)
    }

    @Test("8.3/40: to the key of another item: a duplicate, and nothing has changed", arguments: Transport.all)
    func collision(_ transport: Transport) {
        fixture.use(transport)
        let old = [String: PlainValue].internet("old.com", "a"), new = [String: PlainValue].internet("new.com", "a")
        add(old)
        #expect(client.update(old, [kSecAttrServer: "new.com"]) == errSecSuccess)
        add(old, "again")
        #expect(client.update(new, [kSecAttrServer: "old.com"]) == errSecDuplicateItem)
        #expect(client.data(new) == .bytes("x") && client.data(old) == .bytes("again"))
    }

    @Test("8.3/41: the data; NULL and text are not data", arguments: Transport.all)
    func data(_ transport: Transport) {
        fixture.use(transport)
        add(item)
        #expect(client.update(item, [kSecValueData: .bytes("new")]) == errSecSuccess)
        #expect(client.data(item) == .bytes("new"))
        #expect(client.update(item, [kSecValueData: .null]) == errSecParam)
        #expect(client.update(item, [kSecValueData: "text"]) == errSecParam)
        #expect(client.update(item, [kSecValueData: .data([])]) == errSecSuccess)
        #expect(client.data(item) == .data([]))
    }

    @Test(
        "8.3/42, 43: through a persistent reference only that item changes, and the reference stays",
        arguments: Transport.all)
    func reference(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        add(.generic("s", "b"))
        let reference = try #require(client.reference(item))
        let byReference: [String: PlainValue] = [kSecValuePersistentRef: reference]
        let moved: [String: PlainValue] = [kSecAttrAccount: "c", kSecAttrService: "t", kSecAttrLabel: "l"]
        #expect(client.update(byReference, moved) == errSecSuccess)
        #expect(fixture.changed { $0.count == 1 })
        #expect(client.reference(.generic("t", "c")) == reference)
        #expect(client.attribute(kSecAttrLabel, .generic("s", "b")) == nil)
        #expect(client.data(byReference) == .bytes("x"))
        #expect(client.update(byReference.with([kSecAttrLabel: "other"]), [kSecAttrComment: "c"]) == errSecItemNotFound)
        #expect(client.update(byReference.with([kSecAttrLabel: "l"]), [kSecAttrComment: "c"]) == errSecSuccess)
    }

    @Test(
        "8.3/44: return and match keys in the query; LimitAll is accepted, because it is the default",
        arguments: Transport.all)
    func keys(_ transport: Transport) {
        fixture.use(transport)
        add(item)
        #expect(client.update(item.with([kSecReturnData: true]), [kSecAttrLabel: "l"]) == errSecParam)
        #expect(client.update(item.with([kSecReturnAttributes: false]), [kSecAttrLabel: "l"]) == errSecParam)
        #expect(client.update(item.with([kSecMatchLimit: kSecMatchLimitOne]), [kSecAttrLabel: "l"]) == errSecParam)
        #expect(client.update(item.with([kSecMatchCaseInsensitive: false]), [kSecAttrLabel: "l"]) == errSecParam)
        #expect(client.update(item.with([kSecMatchLimit: kSecMatchLimitAll]), [kSecAttrLabel: "l"]) == errSecSuccess)
    }

    @Test("8.3/45, 46: to another group of the client's, but not to a foreign one", arguments: Transport.all)
    func groups(_ transport: Transport) {
        fixture.use(transport)
        let client = client.entitled(["one", "two"])
        #expect(client.add(item).status == errSecSuccess)
        #expect(client.update(item, [kSecAttrAccessGroup: "two"]) == errSecSuccess)
        #expect(client.status(item.with([kSecAttrAccessGroup: "one"])) == errSecItemNotFound)
        #expect(client.status(item.with([kSecAttrAccessGroup: "two"])) == errSecSuccess)
        #expect(client.update(item, [kSecAttrAccessGroup: "three"]) == errSecMissingEntitlement)
        #expect(client.entitled(["two"]).status(item) == errSecSuccess)
    }

    @Test("8.3/49: a damaged item is not there", arguments: Transport.all)
    func damaged(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        try fixture.damage(item)
        #expect(client.update(item, [kSecAttrLabel: "l"]) == errSecItemNotFound)
        add(.generic("s", "b"))
        #expect(client.update(.generic("s", "b"), [kSecAttrAccount: "a"]) == errSecSuccess, "replaced")
        #expect(client.data(item) == .bytes("x") && client.count(.anyGeneric) == 1)
    }

    @Test("8.3/51: moved, and not found by the old key", arguments: Transport.all)
    func moved(_ transport: Transport) {
        fixture.use(transport)
        add(item)
        #expect(client.update(item, [kSecAttrAccount: "b"]) == errSecSuccess)
        #expect(client.status(item) == errSecItemNotFound && client.data(.generic("s", "b")) == .bytes("x"))
        #expect(client.add(item).status == errSecSuccess)
    }

    @Test("8.3/52: synchronizable items, and from one kind to the other", arguments: Transport.all)
    func synchronizable(_ transport: Transport) {
        fixture.use(transport)
        let sync = item.with([kSecAttrSynchronizable: true])
        add(sync)
        #expect(client.update(item, [kSecAttrLabel: "l"]) == errSecItemNotFound)
        #expect(client.update(sync, [kSecValueData: .bytes("y")]) == errSecSuccess)
        #expect(client.data(sync) == .bytes("y"))
        #expect(client.update(sync, [kSecAttrSynchronizable: false]) == errSecSuccess)
        #expect(client.status(sync) == errSecItemNotFound && client.data(item) == .bytes("y"))
        #expect(client.update(item, [kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == errSecParam)
        #expect(client.delete(item) == errSecSuccess)
    }

    @Test("3.5: a synchronizable item may have a ThisDeviceOnly class", arguments: Transport.all)
    func synchronizableOfThisDevice(_ transport: Transport) {
        fixture.use(transport)
        let sync = item.with([kSecAttrSynchronizable: true])
        #expect(client.add(sync.with([kSecAttrAccessible: "aku", kSecValueData: .bytes("x")])).status == errSecSuccess)
        #expect(client.data(sync) == .bytes("x"))
        #expect(client.update(sync, [kSecAttrAccessible: "cku"]) == errSecSuccess)
        #expect(client.count(.anyGeneric.with([kSecAttrSynchronizable: true, kSecAttrAccessible: "cku"])) == 1)
        add(item)
        #expect(client.update(item, [kSecAttrAccessible: "aku"]) == errSecSuccess)
        #expect(client.delete(sync) == errSecSuccess)
        #expect(client.update(item, [kSecAttrSynchronizable: true]) == errSecSuccess)
    }

    @Test("3.11: every match, in one transaction, all or none", arguments: Transport.all)
    func allOrNone(_ transport: Transport) {
        fixture.use(transport)
        for name in ["a", "b", "c"] { add(.generic("s", .text(name))) }
        let writes = fixture.store.writeCount
        #expect(client.update([kSecClass: "genp", kSecAttrService: "s"], [kSecAttrLabel: "l"]) == errSecSuccess)
        #expect(fixture.store.writeCount == writes + 1 && fixture.changed { $0.count == 3 })
        #expect(client.count(.anyGeneric.with([kSecAttrLabel: "l"])) == 3)
        // The second one collides with the first.
        let merge: [String: PlainValue] = [kSecAttrAccount: "z", kSecAttrLabel: "m"]
        #expect(client.update([kSecClass: "genp", kSecAttrService: "s"], merge) == errSecDuplicateItem)
        #expect(client.count(.anyGeneric.with([kSecAttrLabel: "l"])) == 3 && client.status(.generic("s", "a")) == 0)
        fixture.store.failNextWrite(with: .diskFull)
        #expect(client.update(.anyGeneric, [kSecAttrLabel: "n"]) == -34)
        #expect(client.count(.anyGeneric.with([kSecAttrLabel: "l"])) == 3)
    }

    @Test(
        "3.11: only attributes and the data can be changed; none can be removed; what the system keeps is its own",
        arguments: Transport.all)
    func refused(_ transport: Transport) {
        fixture.use(transport)
        add(item)
        for key in [kSecClass, kSecReturnData, kSecMatchLimit, kSecValueRef, "unknown"] {
            #expect(client.update(item, [key: "x"]) == errSecNoSuchAttr, "\(key)")
        }
        for key in [kSecAttrLabel, kSecAttrCreator, kSecAttrCreationDate, kSecAttrAccessGroup, kSecAttrAccessible] {
            #expect(client.update(item, [key: .null]) == errSecParam, "\(key)")
        }
        for key in ["ggrp", "tkid", "vwht", "musr"] {
            #expect(client.update(item, [key: "x"]) == errSecParam, "\(key)")
        }
        #expect(client.update(item, [kSecAttrServer: "x"]) == errSecNoSuchAttr)
        #expect(client.update(item, [kSecAttrAccessible: "zz"]) == errSecParam)
        #expect(client.update(item, [kSecAttrLabel: ""]) == errSecSuccess)
        #expect(client.attribute(kSecAttrLabel, item) == "")
    }

    @Test(
        "3.11: the modification date moves on with every change, the creation date only if it is set",
        arguments: Transport.all)
    func dates(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        let created = try #require(client.attribute(kSecAttrCreationDate, item))
        let modified = try #require(client.attribute(kSecAttrModificationDate, item))
        #expect(client.update(item, [:]) == errSecSuccess)
        #expect(client.attribute(kSecAttrModificationDate, item) != modified)
        #expect(client.attribute(kSecAttrCreationDate, item) == created)
        let date = PlainValue.date(KeychainDate(seconds: 1_600_000_000, nanoseconds: 500_000_000))
        let given: [String: PlainValue] = [kSecAttrModificationDate: date, kSecAttrCreationDate: date]
        #expect(client.update(item, given) == errSecSuccess)
        #expect(client.attribute(kSecAttrModificationDate, item) != date)
        #expect(client.attribute(kSecAttrCreationDate, item) == date)
    }

    @Test("3.4: a date that has been through a CFDate still finds its item", arguments: Transport.all)
    func roundedDate(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        let sample = KeychainDate(seconds: 1_600_000_000, nanoseconds: 123_456_789)
        #expect(client.update(item, [kSecAttrCreationDate: .date(sample)]) == errSecSuccess)
        var rounded = sample
        rounded.nanoseconds -= 89
        #expect(client.status(item.with([kSecAttrCreationDate: .date(rounded)])) == errSecSuccess)
        rounded.nanoseconds -= 10_000
        #expect(client.status(item.with([kSecAttrCreationDate: .date(rounded)])) == errSecItemNotFound)
    }

    @Test("L3: a new protection class seals the item again", arguments: Transport.all)
    func accessible(_ transport: Transport) throws {
        fixture.use(transport)
        add(item)
        #expect(client.update(item, [kSecAttrAccessible: "ck"]) == errSecSuccess)
        fixture.keychain.lock()
        #expect(client.data(item) == .bytes("x"))
    }
}
