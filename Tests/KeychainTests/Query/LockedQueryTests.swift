import KeychainTesting
import Testing

@testable import Keychain

@Suite("Queries while not all is available")
struct LockedQueryTests {
    private let fixture: QueryFixture
    private var client: EngineClient { fixture.client }

    init() throws {
        fixture = try QueryFixture()
        for (account, protection) in [("unlocked", "ak"), ("first", "ck"), ("always", "dk")] {
            let item = [String: Plain].generic("s", .text(account)).with([
                kSecAttrAccessible: .text(protection), kSecValueData: .bytes(account),
            ])
            #expect(fixture.client.add(item).status == errSecSuccess)
        }
    }

    @Test("8.2/35: a locked item that may match ends the whole query, whatever was found before")
    func locked() {
        fixture.keychain.lock()
        #expect(client.data(.generic("s", "first")) == .bytes("first"))
        #expect(client.status(.generic("s", "unlocked")) == errSecInteractionNotAllowed)
        #expect(client.status(.generic("s", "none")) == errSecItemNotFound)
        let all = [String: Plain].anyGeneric.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true])
        #expect(client.copyMatching(all) == Answer(status: errSecInteractionNotAllowed, result: nil))
        #expect(client.copyMatching(all.with([kSecAttrAccessible: "ck"])).result == [.bytes("first")])
        #expect(client.update(.generic("s", "unlocked"), [kSecAttrLabel: "l"]) == errSecInteractionNotAllowed)
        #expect(client.delete(.generic("s", "unlocked")) == errSecInteractionNotAllowed)
        #expect(client.delete(.anyGeneric) == errSecInteractionNotAllowed)
        #expect(client.add(.generic("s", "new")).status == errSecInteractionNotAllowed)
        #expect(
            client.add([String: Plain].generic("s", "new").with([kSecAttrAccessible: "ck"])).status == errSecSuccess)
        let taken = [String: Plain].generic("s", "unlocked").with([kSecAttrAccessible: "ck"])
        #expect(client.add(taken).status == errSecInteractionNotAllowed)
    }

    @Test("H2: a lock forgets where persistent references were; they are found again afterwards")
    func hints() throws {
        let reference = try #require(client.reference(.generic("s", "unlocked")))
        #expect(client.engine.hints.row(of: Array(reference.bytes?.dropFirst(4) ?? [])) != nil)
        fixture.keychain.lock()
        #expect(client.engine.hints.row(of: Array(reference.bytes?.dropFirst(4) ?? [])) == nil)
        #expect(client.status([kSecValuePersistentRef: reference]) == errSecInteractionNotAllowed)
        try fixture.bench.unlock()
        #expect(client.data([kSecValuePersistentRef: reference]) == .bytes("unlocked"))
    }

    @Test("before the first unlock an Always item answers to its whole name, and nothing else does")
    func beforeFirstUnlock() throws {
        let cold = try QueryFixture(Bench(copying: fixture.bench.store.records)).client
        #expect(cold.data(.generic("s", "always")) == .bytes("always"))
        for query: [String: Plain] in [.generic("s", "first"), .generic("t", "always"), .anyInternet] {
            #expect(cold.status(query) == errSecInteractionNotAllowed)
        }
        #expect(cold.add(.generic("s", "new")).status == errSecInteractionNotAllowed)
        #expect(cold.delete(.generic("s", "always")) == errSecInteractionNotAllowed)
    }

    @Test("L6: another device's items are not listed; by name they are not available, and can be deleted")
    func foreign() throws {
        let bound = [String: Plain].generic("s", "bound").with([kSecAttrAccessible: "aku"])
        #expect(client.add(bound).status == errSecSuccess)
        let bench = try Bench(copying: fixture.bench.store.records, device: 2)
        try bench.unlock()
        let other = try QueryFixture(bench).client
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
        let item = [String: Plain].generic("s", "later")
        let secret: [String: Plain] = [kSecAttrAccessible: "cuo", kSecValueData: .bytes("y")]
        #expect(client.add(item.with(secret)).status == errSecSuccess)
        #expect(client.status(item) == errSecInteractionNotAllowed)
        try fixture.bench.unlock()
        #expect(client.data(item) == .bytes("y"))
    }
}
