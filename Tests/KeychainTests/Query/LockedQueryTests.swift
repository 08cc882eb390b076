import KeychainTesting
import SecItemTesting
import Testing

@testable import Keychain

@Suite("Queries while not all is available")
struct LockedQueryTests {
    private let fixture: QueryFixture
    private var client: EngineClient { fixture.client }

    init() throws {
        fixture = try QueryFixture()
        for (account, protection) in [("unlocked", "ak"), ("first", "ck"), ("always", "dk")] {
            let item = [String: PlainValue].generic("s", .text(account)).with([
                kSecAttrAccessible: .text(protection), kSecValueData: .bytes(account),
            ])
            #expect(fixture.client.add(item).status == errSecSuccess)
        }
    }

    @Test("8.2/35: a locked item that may match fails the complete query, even after other matches")
    func locked() {
        fixture.keychain.lock()
        #expect(client.data(.generic("s", "first")) == .bytes("first"))
        #expect(client.status(.generic("s", "unlocked")) == errSecInteractionNotAllowed)
        #expect(client.status(.generic("s", "none")) == errSecItemNotFound)
        let all = [String: PlainValue].anyGeneric.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])
        #expect(client.copyMatching(all) == Answer(status: errSecInteractionNotAllowed, result: nil))
        #expect(client.copyMatching(all.with([kSecAttrAccessible: "ck"])).result == [.bytes("first")])
        #expect(client.update(.generic("s", "unlocked"), [kSecAttrLabel: "l"]) == errSecInteractionNotAllowed)
        #expect(client.delete(.generic("s", "unlocked")) == errSecInteractionNotAllowed)
        #expect(client.delete(.anyGeneric) == errSecInteractionNotAllowed)
        #expect(client.add(.generic("s", "new")).status == errSecInteractionNotAllowed)
        #expect(
            client.add([String: PlainValue].generic("s", "new").with([kSecAttrAccessible: "ck"])).status
                == errSecSuccess)
        let taken = [String: PlainValue].generic("s", "unlocked").with([kSecAttrAccessible: "ck"])
        #expect(client.add(taken).status == errSecInteractionNotAllowed)
    }

    @Test("S5: a query looks up the attributes that it names, so locked items in other places do not affect it")
    func plans() {
        let first: [String: PlainValue] = [kSecAttrAccessible: "ck", kSecValueData: .bytes("x")]
        #expect(client.add([String: PlainValue].generic("t", "a").with(first)).status == errSecSuccess)
        let ssh = [String: PlainValue].internet("h", "a").with([kSecAttrPort: 22])
        #expect(client.add(ssh.with(first)).status == errSecSuccess)
        #expect(client.add(.internet("other", "a")).status == errSecSuccess)
        fixture.keychain.lock()
        let all: [String: PlainValue] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true]
        #expect(client.copyMatching(.anyGeneric.with(all).with([kSecAttrService: "t"])).result == [.bytes("x")])
        #expect(client.copyMatching(.anyGeneric.with(all).with([kSecAttrAccount: "a"])).result == [.bytes("x")])
        #expect(client.copyMatching(.anyInternet.with(all).with([kSecAttrServer: "h"])).result == [.bytes("x")])
        let port = client.copyMatching(.anyInternet.with(all).with([kSecAttrServer: "h", kSecAttrAccount: "a"]))
        #expect(port.result == [.bytes("x")])
        #expect(client.status(.anyInternet.with(all).with([kSecAttrAccount: "a"])) == errSecInteractionNotAllowed)
        let anyCase: [String: PlainValue] = [kSecAttrAccount: "A", kSecMatchCaseInsensitive: true]
        #expect(client.status(.anyGeneric.with(anyCase)) == errSecInteractionNotAllowed)
    }

    @Test("3.9: entry by entry: what came before a locked item is void")
    func entries() throws {
        let me = QueryClient(accessGroups: [Array("default".utf8)], userID: 0, groupID: 0)
        let all: QueryDictionary = [
            "class": .string("genp"), "m_Limit": .string("m_LimitAll"), "r_PersistentRef": .boolean(true),
        ]
        var (found, isList) = (0, false)
        func count(_ query: QueryDictionary) throws {
            var cursor = try client.engine.matches(of: query, by: me)
            (found, isList) = (0, cursor.isList)
            while try cursor.next() != nil { found += 1 }
        }
        try count(all)
        #expect(found == 3 && isList)
        try count(all.filter { $0.key != "m_Limit" })
        #expect(found == 1 && !isList)
        // The last one added: those before it are given first.
        #expect(client.delete(.generic("s", "unlocked")) == errSecSuccess)
        #expect(client.add(.generic("s", "unlocked")).status == errSecSuccess)
        fixture.keychain.lock()
        #expect(throws: SecurityStatus.interactionNotAllowed) { try count(all) }
        #expect(found == 2)
    }

    @Test("3.9: a cursor that has failed, or is at its end, gives nothing more")
    func cursors() throws {
        let me = QueryClient(accessGroups: [Array("default".utf8)], userID: 0, groupID: 0)
        let query: QueryDictionary = ["class": .string("genp"), "r_PersistentRef": .boolean(true)]
        var one = try client.engine.matches(of: query, by: me)
        #expect(try one.next() != nil)
        #expect(try one.next() == nil)
        var none = try client.engine.matches(of: query.merging(["acct": .string("nobody")]) { $1 }, by: me)
        #expect(throws: SecurityStatus.itemNotFound) { try none.next() }
        #expect(try none.next() == nil)
        var all = try client.engine.matches(of: query.merging(["m_Limit": .string("m_LimitAll")]) { $1 }, by: me)
        #expect(try all.next() != nil)
        // Items added before the next page is read are found as well.
        #expect(client.add(.generic("s", "zz")).status == errSecSuccess)
        var more = 0
        while try all.next() != nil { more += 1 }
        #expect(more == 2 || more == 3)
        fixture.keychain.lock()
        #expect(try all.next() == nil)
    }

    @Test("H2: a lock forgets where persistent references were; they are found again afterwards")
    func hints() throws {
        let reference = try #require(client.reference(.generic("s", "unlocked")))
        #expect(client.engine.hints.row(of: Array(reference.bytes?.dropFirst(4) ?? [])) != nil)
        fixture.keychain.lock()
        #expect(client.engine.hints.row(of: Array(reference.bytes?.dropFirst(4) ?? [])) == nil)
        #expect(client.status([kSecValuePersistentRef: reference]) == errSecInteractionNotAllowed)
        try fixture.keyRingFixture.unlock()
        #expect(client.data([kSecValuePersistentRef: reference]) == .bytes("unlocked"))
    }

    @Test("before the first unlock only an Always item is found, by its complete primary key")
    func beforeFirstUnlock() throws {
        let cold = try QueryFixture(KeyRingFixture(copying: fixture.keyRingFixture.store.records)).client
        #expect(cold.data(.generic("s", "always")) == .bytes("always"))
        for query: [String: PlainValue] in [.generic("s", "first"), .generic("t", "always"), .anyInternet] {
            #expect(cold.status(query) == errSecInteractionNotAllowed)
        }
        #expect(cold.add(.generic("s", "new")).status == errSecInteractionNotAllowed)
        #expect(cold.delete(.generic("s", "always")) == errSecInteractionNotAllowed)
    }

    @Test("L6: another device's items are not listed; by name they are not available, and can be deleted")
    func foreign() throws {
        let bound = [String: PlainValue].generic("s", "bound").with([kSecAttrAccessible: "aku"])
        #expect(client.add(bound).status == errSecSuccess)
        let keyRingFixture = try KeyRingFixture(copying: fixture.keyRingFixture.store.records, device: 2)
        try keyRingFixture.unlock()
        let other = try QueryFixture(keyRingFixture).client
        #expect(other.count(.anyGeneric) == 3)
        #expect(other.status(.generic("s", "bound")) == errSecInteractionNotAllowed)
        #expect(other.add(.generic("s", "bound")).status == errSecInteractionNotAllowed)
        #expect(other.update(.generic("s", "bound"), [kSecAttrLabel: "l"]) == errSecInteractionNotAllowed)
        #expect(other.delete(.generic("s", "bound")) == errSecSuccess)
        #expect(other.add(.generic("s", "bound")).status == errSecSuccess)
    }

    @Test("WhenUnlockedUnlessOpen: added while locked, found after the unlock")
    func unlessOpen() throws {
        fixture.keychain.lock()
        let item = [String: PlainValue].generic("s", "later")
        let secret: [String: PlainValue] = [kSecAttrAccessible: "cuo", kSecValueData: .bytes("y")]
        #expect(client.add(item.with(secret).with([kSecReturnData: true])) == Answer(status: errSecSuccess))
        #expect(client.status(item) == errSecInteractionNotAllowed)
        try fixture.keyRingFixture.unlock()
        #expect(client.data(item) == .bytes("y"))
    }
}
