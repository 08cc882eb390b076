import SecretCrypto
import Testing

@testable import KeychainClient

/// The Swift-native API, over the very service that answers behind a mount.
@Suite struct PasswordTests {
    private let keychain: Keychain

    init() throws { keychain = try ClientFixture().client }

    private var isPresent: Bool {
        get throws {
            guard let password = try keychain.passwordIfPresent(service: "s", account: "a") else { return false }
            return password.count > 0
        }
    }

    @Test("A password is set, read, replaced and removed")
    func life() throws {
        #expect(throws: KeychainError.itemNotFound) { _ = try keychain.password(service: "s", account: "a").count }
        #expect(try isPresent == false)
        try keychain.setPassword(Secret("one"), service: "s", account: "a")
        #expect(try isPresent)
        #expect(try keychain.password(service: "s", account: "a").text() == "one")
        try keychain.setPassword(Secret("two"), service: "s", account: "a", attributes: ItemAttributes(label: "L"))
        let found = try keychain.password(service: "s", account: "a")
        #expect(found.isEqual(to: try Secret("two")))
        #expect(!found.isEqual(to: try Secret("one")))
        #expect(try keychain.item(.generic(service: "s", account: "a")).attributes.label == "L")
        #expect(try keychain.removePassword(service: "s", account: "a"))
        #expect(try !keychain.removePassword(service: "s", account: "a"))
    }

    @Test("Each part of an internet password's key distinguishes it from others")
    func internet() throws {
        let keys: [ItemKey] = [
            .internet(server: "h", account: "a"), .internet(server: "h", account: "a", protocol: .https),
            .internet(server: "h", account: "a", protocol: .https, port: 8443),
            .internet(server: "h", account: "a", path: "/p"),
            ItemKey(.internet(InternetService(server: "h", securityDomain: "d")), account: "a"),
            ItemKey(.internet(InternetService(server: "h", authenticationType: .httpBasic)), account: "a"),
            ItemKey(.internet(InternetService(server: "h")), account: "a", isSynchronizable: true),
            ItemKey(.internet(InternetService(server: "h")), account: "a", accessGroup: "team.shared"),
        ]
        for (number, key) in keys.enumerated() { try keychain.add(Secret("\(number)"), for: key) }
        for (number, key) in keys.enumerated() { #expect(try keychain.secret(of: key).text() == "\(number)") }
        var cursor = try keychain.items(matching: .internet(server: "h"))
        let found = try cursor.rest().compactMap(\.key)
        let uncut = keys.map { key in
            var key = key
            key.accessGroup = key.accessGroup ?? "team.app"
            return key
        }
        #expect(found == uncut)
        #expect(try keychain.password(server: "h", account: "a", protocol: .https, port: 8443).text() == "2")
        #expect(try keychain.removePassword(server: "h", account: "a", path: "/p"))
        #expect(throws: KeychainError.itemNotFound) { _ = try keychain.secret(of: keys[3]).count }
        #expect(try keychain.secret(of: keys[0]).text() == "0")
    }

    @Test("add does not replace an existing item; another group is refused, and so is an invalid value")
    func errors() throws {
        let key = ItemKey.generic(service: "s", account: "a")
        try keychain.add(Secret("one"), for: key)
        #expect(throws: KeychainError.duplicateItem) { try keychain.add(Secret("two"), for: key) }
        #expect(try keychain.secret(of: key).text() == "one")
        var foreign = key
        foreign.accessGroup = "somebody.else"
        #expect(throws: KeychainError.missingEntitlement) { try keychain.add(Secret("x"), for: foreign) }
        let absent = ItemKey.generic(service: "s", account: "b")
        let label = ItemAttributes(label: "x")
        #expect(throws: KeychainError.itemNotFound) { try keychain.update(absent, attributes: label) }
        let long = try Secret(randomCount: 1 << 20 | 1)
        #expect(throws: KeychainError.tooLarge) { try keychain.set(long, for: key) }
        #expect(KeychainError.itemNotFound.description == "There is no such item in the keychain.")
        #expect(KeychainError(status: -67585).description.contains("-67585"))
    }

    @Test("Attributes are returned as they were set, and nil leaves an attribute unchanged")
    func attributes() throws {
        let key = ItemKey.generic(service: "s", account: "a")
        let all = ItemAttributes(
            label: "l", comment: "c", itemDescription: "d", accessibility: .afterFirstUnlockThisDeviceOnly,
            isInvisible: true, isNegative: false, generic: [0, 255])
        try keychain.add(Secret("x"), for: key, attributes: all)
        #expect(try keychain.item(key).attributes == all)
        try keychain.update(key, attributes: ItemAttributes(comment: "other"))
        var changed = all
        changed.comment = "other"
        #expect(try keychain.item(key).attributes == changed)
        #expect(try keychain.item(key).creationDate.secondsSince1970 == 1_700_000_000.5)
        #expect(try keychain.secret(of: key).text() == "x")
        for accessibility in Accessibility.allCases {
            try keychain.update(key, attributes: ItemAttributes(accessibility: accessibility))
            #expect(try keychain.item(key).attributes.accessibility == accessibility)
        }
    }

    @Test("A search returns the matches in order, without items deleted in the meantime; a reference survives a rename")
    func search() throws {
        for number in 0..<300 {
            try keychain.add(
                Secret("\(number)"), for: .generic(service: "s\(number % 3)", account: "a\(number)"),
                attributes: ItemAttributes(label: number.isMultiple(of: 2) ? "even" : "odd"))
        }
        var filter = ItemFilter.generic(service: "s1")
        filter.label = "even"
        var cursor = try keychain.items(matching: filter)
        #expect(cursor.references.count == 50)
        let first = try #require(try cursor.next())
        #expect(first.key?.account == "a4")
        #expect(try keychain.secret(of: first.reference).text() == "4")
        try keychain.removePassword(service: "s1", account: "a10")
        #expect(try cursor.rest().count == 48)
        var none = try keychain.items(matching: .generic(service: "absent"))
        #expect(try none.next() == nil)
        #expect(try keychain.removeAll(matching: .generic(service: "s1")))
        #expect(try !keychain.removeAll(matching: .generic(service: "s1")))
        #expect(try keychain.items(matching: .generic()).references.count == 200)
        #expect(throws: KeychainError.itemNotFound) { _ = try keychain.secret(of: first.reference).count }
    }

    @Test("Locked items are refused, in a search too")
    func locked() throws {
        let fixture = try ClientFixture()
        try fixture.client.setPassword(Secret("x"), service: "s", account: "a")
        fixture.store.lock()
        let client = fixture.client
        #expect(throws: KeychainError.locked) { _ = try client.password(service: "s", account: "a").count }
        #expect(throws: KeychainError.locked) { _ = try client.items(matching: .generic()) }
        let secret = try Secret("y")
        #expect(throws: KeychainError.locked) { try client.setPassword(secret, service: "s", account: "a") }
    }

    @Test("H2: a secret that has ended is nowhere in locked memory any more")
    func wiped() throws {
        let canary = Array("canary-of-the-native-api".utf8)
        do {
            let secret = try Secret(copying: canary.rawSpan)
            try keychain.setPassword(secret, service: "s", account: "a")
            let found = try keychain.password(service: "s", account: "a")
            found.withBytes { #expect([UInt8](copying: $0) == canary) }
            #expect(SecretArena.shared.contains(canary))
            _ = secret.count + found.count
        }
        #expect(!SecretArena.shared.contains(canary))
    }
}
