import Security
import SecurityTesting
import Testing

// The shapes of wrappers that applications write for themselves.

private struct Credentials {
    var username: String
    var password: String
}

private enum KeychainError: Error {
    case noPassword
    case unexpectedPasswordData
    case unhandledError(status: OSStatus)
}

private struct PasswordStore {
    let server: String

    func add(_ credentials: Credentials) throws {
        let password = Data(credentials.password.utf8)
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrAccount as String: credentials.username,
            kSecAttrServer as String: server,
            kSecValueData as String: password,
        ]
        let status = SecItemAdd(query as CFDictionary, nil)
        guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
    }

    func find() throws -> Credentials {
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrServer as String: server,
            kSecMatchLimit as String: kSecMatchLimitOne,
            kSecReturnAttributes as String: true,
            kSecReturnData as String: true,
        ]
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        guard status != errSecItemNotFound else { throw KeychainError.noPassword }
        guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
        guard let existingItem = item as? [String: Any],
            let passwordData = existingItem[kSecValueData as String] as? Data,
            let password = String(data: passwordData, encoding: String.Encoding.utf8),
            let account = existingItem[kSecAttrAccount as String] as? String
        else {
            throw KeychainError.unexpectedPasswordData
        }
        return Credentials(username: account, password: password)
    }

    func update(_ credentials: Credentials) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: server,
        ]
        let attributes: [String: Any] = [
            kSecAttrAccount as String: credentials.username,
            kSecValueData as String: Data(credentials.password.utf8),
        ]
        let status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
        guard status != errSecItemNotFound else { throw KeychainError.noPassword }
        guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
    }
}

@propertyWrapper
private struct KeychainStored {
    let key: String

    var wrappedValue: String? {
        get {
            var result: AnyObject?
            let status = SecItemCopyMatching(
                [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: key, kSecReturnData: true,
                    kSecMatchLimit: kSecMatchLimitOne,
                ] as CFDictionary, &result)
            guard status == errSecSuccess, let data = result as? Data else { return nil }
            return String(data: data, encoding: .utf8)
        }
        nonmutating set {
            let query = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: key] as CFDictionary
            SecItemDelete(query)
            guard let newValue else { return }
            SecItemAdd(
                [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: key,
                    kSecValueData: Data(newValue.utf8),
                ] as CFDictionary, nil)
        }
    }
}

private final class GenericStore<Value: Codable> {
    private let account: String

    init(account: String) { self.account = account }

    private lazy var query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrService: "\(Value.self)",
    ]

    func set(_ value: Value) throws -> OSStatus {
        var attributes = query
        attributes[kSecValueData] = try JSONEncoder().encode(value)
        attributes[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlock
        SecItemDelete(query as CFDictionary)
        return SecItemAdd(attributes as CFDictionary, nil)
    }

    func get() throws -> Value? {
        var attributes = query
        attributes[kSecReturnData] = kCFBooleanTrue
        var result: CFTypeRef?
        guard SecItemCopyMatching(attributes as CFDictionary, &result) == errSecSuccess else { return nil }
        return try (result as? Data).map { try JSONDecoder().decode(Value.self, from: $0) }
    }
}

private actor TokenStore {
    private let service: String

    init(service: String) { self.service = service }

    func save(_ token: String) -> Bool {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecValueData as String: Data(token.utf8),
        ]
        SecItemDelete(query as CFDictionary)
        return SecItemAdd(query as CFDictionary, nil) == errSecSuccess
    }

    func token() -> String? {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecReturnData as String: true,
        ]
        var item: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { return nil }
        return (item as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}

@Suite("patterns: wrappers", .memoryKeychain)
struct Wrappers {
    @Test("116: Apple's example of adding, searching and updating a password")
    func appleExample() throws {
        let store = PasswordStore(server: "www.example.com")
        #expect(throws: KeychainError.self) { try store.find() }
        try store.add(Credentials(username: "one", password: "1"))
        #expect(throws: KeychainError.self) { try store.add(Credentials(username: "one", password: "1")) }
        try store.update(Credentials(username: "two", password: "2"))
        let found = try store.find()
        #expect(found.username == "two" && found.password == "2")
    }

    @Test("117: a property wrapper")
    func propertyWrapper() {
        struct Session {
            @KeychainStored(key: "token") var token: String?
        }
        let session = Session()
        #expect(session.token == nil)
        session.token = "t"
        #expect(session.token == "t")
        session.token = nil
        #expect(session.token == nil)
    }

    @Test("118: a generic class with a lazy query and Codable values")
    func codable() throws {
        let store = GenericStore<[Int]>(account: "numbers")
        #expect(try store.get() == nil)
        #expect(try store.set([1, 2]) == errSecSuccess)
        #expect(try store.get() == [1, 2])
    }

    @Test("119: an actor")
    func actor() async {
        let store = TokenStore(service: "s")
        #expect(await store.token() == nil)
        #expect(await store.save("t"))
        #expect(await store.save("u"))
        #expect(await store.token() == "u")
    }

    @Test("120: Foundation comes with Security")
    func foundation() {
        let url = URL(string: "https://example.com")
        #expect(url?.host == "example.com" && UUID().uuidString.count == 36)
    }
}
