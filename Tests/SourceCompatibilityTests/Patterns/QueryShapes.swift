import Foundation
import Security
import SecurityTesting
import Testing

@Suite("patterns: how queries are written", .memoryKeychain)
struct QueryShapes {
    private func read(_ account: String = "a") -> String? {
        var item: CFTypeRef?
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: account,
            kSecReturnData as String: true,
        ]
        guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess else { return nil }
        return (item as? Data).flatMap { String(data: $0, encoding: .utf8) }
    }

    @Test("1: [String: Any] with keys as String")
    func stringKeys() {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: "a",
            kSecValueData as String: "x".data(using: .utf8)!,
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("2: [CFString: Any]")
    func constantKeys() {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrAccount: "a",
            kSecValueData: Data("x".utf8),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("3: a literal as CFDictionary, keys as constants")
    func literal() {
        let status = SecItemAdd(
            [
                kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecValueData: Data("x".utf8),
            ] as CFDictionary, nil)
        #expect(status == errSecSuccess && read() == "x")
    }

    @Test("4: a literal as [String: Any] as CFDictionary")
    func literalTwice() {
        let status = SecItemAdd(
            [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
                kSecValueData as String: Data("x".utf8),
            ] as [String: Any] as CFDictionary, nil)
        #expect(status == errSecSuccess && read() == "x")
    }

    @Test("5: [String: AnyObject]")
    func objects() {
        var query: [String: AnyObject] = [kSecClass as String: kSecClassGenericPassword]
        query[kSecAttrAccount as String] = "a" as AnyObject
        query[kSecValueData as String] = Data("x".utf8) as AnyObject
        query[kSecAttrIsInvisible as String] = kCFBooleanTrue
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("6: [String: AnyObject?] values through as AnyObject?")
    func optionalObjects() {
        let account: String? = "a"
        var query = [String: AnyObject]()
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecAttrAccount as String] = account as AnyObject?
        query[kSecValueData as String] = Data("x".utf8) as AnyObject?
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("7: [NSString: Any]")
    func nsStringKeys() {
        let query: [NSString: Any] = [
            kSecClass as NSString: kSecClassGenericPassword, kSecAttrAccount: "a" as NSString,
            kSecValueData: NSData(data: Data("x".utf8)),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("8: [String: NSObject]")
    func nsObjectValues() {
        let query: [String: NSObject] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a" as NSString,
            kSecValueData as String: NSData(data: Data("x".utf8)),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("9: [NSObject: AnyObject]")
    func nsObjectKeys() {
        let query: [NSObject: AnyObject] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a" as NSString,
            kSecValueData: NSData(data: Data("x".utf8)),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("10: [AnyHashable: Any]")
    func anyHashableKeys() {
        let query: [AnyHashable: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount as String: "a", kSecValueData: Data("x".utf8),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("11: [String: AnyHashable], as Valet writes")
    func anyHashableValues() {
        var query: [String: AnyHashable] = [kSecClass as String: kSecClassGenericPassword]
        query[kSecAttrAccount as String] = "a"
        query[kSecValueData as String] = Data("x".utf8)
        query[kSecAttrIsInvisible as String] = false
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("12: NSMutableDictionary with setObject(_:forKey:) and NSCopying keys")
    func mutableDictionary() {
        let query = NSMutableDictionary()
        query.setObject(kSecClassGenericPassword, forKey: kSecClass as NSCopying)
        query.setObject("a", forKey: kSecAttrAccount as NSCopying)
        query.setObject(Data("x".utf8), forKey: kSecValueData as NSCopying)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("13: NSMutableDictionary with setObject(_:forKey:) and constants or strings")
    func mutableDictionaryPlain() {
        let query = NSMutableDictionary()
        query.setObject(kSecClassGenericPassword, forKey: kSecClass)
        query.setObject("a" as NSString, forKey: kSecAttrAccount as NSString)
        query.setObject(Data("x".utf8), forKey: kSecValueData as String as NSCopying)
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("14: NSMutableDictionary with subscripts")
    func mutableDictionarySubscript() {
        let query = NSMutableDictionary()
        query[kSecClass] = kSecClassGenericPassword
        query[kSecAttrAccount as String] = "a"
        query[kSecValueData as NSString] = Data("x".utf8)
        #expect(SecItemAdd(query as CFMutableDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("15: NSMutableDictionary(objects:forKeys:) with NSString keys")
    func objectsForKeys() {
        let classKey = NSString(format: kSecClass)
        let query = NSMutableDictionary(
            objects: [kSecClassGenericPassword, "a", Data("x".utf8)],
            forKeys: [classKey, kSecAttrAccount, kSecValueData])
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("16: NSDictionary(objects:forKeys:) with NSCopying keys")
    func objectsForCopyingKeys() {
        let keys: [NSCopying] = [kSecClass as NSCopying, kSecAttrAccount as NSCopying, kSecValueData as NSCopying]
        let query = NSDictionary(objects: [kSecClassGenericPassword, "a" as NSString, NSData()], forKeys: keys)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "")
    }

    @Test("17: NSDictionary as a literal")
    func nsDictionaryLiteral() {
        let query: NSDictionary = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecValueData: Data("x".utf8),
        ]
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("18: CFDictionary as the type of a constant")
    func cfDictionaryConstant() {
        let query: CFDictionary =
            [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
                kSecValueData as String: Data("x".utf8),
            ] as CFDictionary
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("19: an NSMutableDictionary(dictionary:) of a Swift dictionary")
    func mutableOfDictionary() {
        let query = NSMutableDictionary(dictionary: [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
        ])
        query.setValue(Data("x".utf8), forKey: kSecValueData as String)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("20: keys of a raw-value enum of Strings")
    func rawValues() {
        enum Key {
            static let itemClass = kSecClass as String
            static let account = String(kSecAttrAccount)
            static let data = kSecValueData as String
        }
        let query: [String: Any] = [
            Key.itemClass: kSecClassGenericPassword as String, Key.account: "a", Key.data: Data("x".utf8),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("21: keys that are implicitly unwrapped Strings, as SwiftKeychainWrapper has")
    func implicitlyUnwrapped() {
        let classKey: String! = kSecClass as String
        let accountKey: String! = kSecAttrAccount as String
        let dataKey: String! = kSecValueData as String
        let query: [String: Any] = [classKey: kSecClassGenericPassword, accountKey: "a", dataKey: Data("x".utf8)]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("22: keys of an optional type")
    func optionalKeys() {
        let query: [String?: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String?: "a",
            kSecValueData as String: Data("x".utf8),
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("23: merging two dictionaries")
    func merging() {
        let base: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a"]
        let query = base.merging([kSecValueData as String: Data("x".utf8)]) { (_, new) in new }
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("24: += of an own operator, and removeValue")
    func changing() {
        var query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a"]
        query[kSecReturnData as String] = kCFBooleanTrue
        query.updateValue(Data("x".utf8), forKey: kSecValueData as String)
        query.removeValue(forKey: kSecReturnData as String)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("25: forEach and reduce(into:) over optional parts")
    func reducing() {
        let parts: [(CFString, Any?)] = [
            (kSecClass, kSecClassGenericPassword), (kSecAttrAccount, "a"), (kSecAttrAccessGroup, nil),
            (kSecValueData, Data("x".utf8)),
        ]
        let query = parts.reduce(into: [String: Any]()) { $0[$1.0 as String] = $1.1 }
        #expect(query.count == 3)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("26: Dictionary(uniqueKeysWithValues:) and mapKeys to String")
    func mapped() {
        let attributes: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
        var query = Dictionary(uniqueKeysWithValues: attributes.map { ($0.key as String, $0.value) })
        query[kSecValueData as String] = Data("x".utf8)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }

    @Test("27: a subscript with CFString keys of an own extension")
    func ownSubscript() {
        var query = [String: Any]()
        query[kSecClass] = kSecClassGenericPassword
        query[kSecAttrAccount] = "a"
        query[kSecValueData] = Data("x".utf8)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(query[kSecAttrAccount] as? String == "a")
        #expect(read() == "x")
    }

    @Test("28: a builder that returns CFDictionary")
    func builder() {
        func query(_ account: String, _ data: Data? = nil) -> CFDictionary {
            var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account]
            if let data { query[kSecValueData] = data }
            return query as CFDictionary
        }
        #expect(SecItemAdd(query("a", Data("x".utf8)), nil) == noErr)
        #expect(SecItemDelete(query("a")) == noErr)
        #expect(read() == nil)
    }

    @Test("29: a computed property of a protocol with Self requirements")
    func queryProtocol() {
        let token = StoredToken(account: "a")
        #expect(SecItemAdd(token.query.merging([kSecValueData: Data("x".utf8)]) { $1 } as CFDictionary, nil) == 0)
        #expect(read() == "x")
    }

    @Test("30: keys through NSString(format:) and values as NSString")
    func nsStringFormat() {
        let classValue = NSString(format: kSecClassGenericPassword)
        let query = NSMutableDictionary(
            objects: [classValue, "a" as NSString, Data("x".utf8), kCFBooleanTrue as Any],
            forKeys: [kSecClass as NSString, kSecAttrAccount, kSecValueData, kSecAttrIsInvisible])
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        #expect(read() == "x")
    }
}

private protocol KeychainStorable {
    associatedtype Key: Hashable
    var account: String { get }
    var query: [Key: Any] { get }
}

private struct StoredToken: KeychainStorable {
    let account: String
    var query: [CFString: Any] { [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account] }
}

extension Dictionary where Key == String, Value == Any {
    fileprivate subscript(key: CFString) -> Any? {
        get { self[key as String] }
        set { self[key as String] = newValue }
    }
}
