import Foundation
import Security
import SecurityTesting
import Testing

@Suite("patterns: what becomes of results", .memoryKeychain)
struct ResultCasts {
    private let key: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "s",
        kSecAttrAccount as String: "a",
    ]

    init() {
        let item = key.merging([kSecValueData as String: Data("x".utf8), kSecAttrLabel as String: "label"]) { $1 }
        SecItemAdd(item as CFDictionary, nil)
    }

    private func find(_ more: [CFString: Any]) -> CFTypeRef? {
        var query = key
        for (name, value) in more { query[name as String] = value }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return status == errSecSuccess ? result : nil
    }

    @Test("53: result as? Data")
    func dataConditionally() {
        #expect(find([kSecReturnData: true]) as? Data == Data("x".utf8))
    }

    @Test("54: result as! Data")
    func dataForced() {
        #expect(find([kSecReturnData: true]) as! Data == Data("x".utf8))
    }

    @Test("55: result as! Data?")
    func dataForcedOptional() {
        let data = find([kSecReturnData: true]) as! Data?
        #expect(data == Data("x".utf8))
    }

    @Test("56: result as? NSData, and as! CFData as Data")
    func nsData() {
        let result = find([kSecReturnData: kCFBooleanTrue as Any])
        #expect((result as? NSData)?.length == 1)
        #expect(result as! CFData as Data == Data("x".utf8))
    }

    @Test("57: String(data: result as! Data, encoding: .utf8)")
    func text() {
        #expect(String(data: find([kSecReturnData: true]) as! Data, encoding: .utf8) == "x")
        #expect(NSString(data: find([kSecReturnData: true]) as! Data, encoding: String.Encoding.utf8.rawValue) == "x")
    }

    @Test("58: String(decoding:as:)")
    func decoding() {
        guard let data = find([kSecReturnData: true]) as? Data else { return #expect(Bool(false)) }
        #expect(String(decoding: data, as: UTF8.self) == "x")
    }

    @Test("59: as? [String: Any]")
    func dictionary() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? [String: Any])
        #expect(attributes[kSecAttrAccount as String] as? String == "a")
        #expect(attributes[kSecAttrService as String] as! String == "s")
    }

    @Test("60: as? [CFString: Any]")
    func constantKeys() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? [CFString: Any])
        #expect(attributes[kSecAttrAccount] as? String == "a")
    }

    @Test("61: as? [NSString: AnyObject], as? [String: AnyObject], as? [String: NSObject]")
    func objects() throws {
        let result = find([kSecReturnAttributes: true])
        #expect((result as? [NSString: AnyObject])?[kSecAttrLabel] as? String == "label")
        #expect((result as? [String: AnyObject])?[kSecAttrLabel as String] as? String == "label")
        #expect((result as? [String: NSObject])?[kSecAttrLabel as String] as? String == "label")
    }

    @Test("62: as? [String: AnyHashable]")
    func anyHashableValues() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? [String: AnyHashable])
        #expect(attributes[kSecAttrAccount as String] as? String == "a")
        #expect(attributes[kSecAttrAccount as String] == "a" as AnyHashable)
        #expect(attributes[kSecAttrSynchronizable as String] as? Int == 0)
    }

    @Test("63: as? [AnyHashable: Any], indexed with a constant and with a String")
    func anyHashableKeys() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? [AnyHashable: Any])
        #expect(attributes[kSecAttrAccount] as? String == "a")
        #expect(attributes[kSecAttrAccount as String] as? String == "a")
    }

    @Test("64: as? NSDictionary, with object(forKey:), a subscript and value(forKey:)")
    func nsDictionary() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? NSDictionary)
        #expect(attributes.object(forKey: kSecAttrAccount) as? String == "a")
        #expect(attributes[kSecAttrAccount] as? String == "a")
        #expect(attributes[kSecAttrAccount as String] as? String == "a")
        #expect(attributes.value(forKey: kSecAttrAccount as String) as? String == "a")
    }

    @Test("65: as! CFDictionary as NSDictionary as? [String: Any]")
    func chain() {
        let attributes = (find([kSecReturnAttributes: true]) as! CFDictionary) as NSDictionary as? [String: Any]
        #expect(attributes?[kSecAttrLabel as String] as? String == "label")
    }

    @Test("66: data and attributes together")
    func both() throws {
        let item = try #require(
            find([kSecMatchLimit: kSecMatchLimitOne, kSecReturnAttributes: true, kSecReturnData: true])
                as? [String: Any])
        let password = try #require(item[kSecValueData as String] as? Data)
        #expect(String(data: password, encoding: String.Encoding.utf8) == "x")
        #expect(item[kSecAttrAccount as String] as? String == "a")
    }

    @Test("67: as? [[String: Any]], in the order in which items were added")
    func list() throws {
        for account in ["c", "b"] {
            SecItemAdd(key.merging([kSecAttrAccount as String: account]) { $1 } as CFDictionary, nil)
        }
        var query = key
        query[kSecAttrAccount as String] = nil
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = kCFBooleanTrue
        var result: AnyObject?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        let items = try #require(result as? [[String: Any]])
        #expect(items.compactMap { $0[kSecAttrAccount as String] as? String } == ["a", "c", "b"])
        #expect((result as? [NSDictionary])?.count == 3)
        #expect((result as? [[CFString: Any]])?.last?[kSecAttrAccount] as? String == "b")
        #expect((result as! [[AnyHashable: Any]]).first?[kSecAttrAccount] as? String == "a")
    }

    @Test("68: as? [Data]")
    func listOfData() {
        #expect(find([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]) as? [Data] == [Data("x".utf8)])
        #expect((find([kSecReturnData: true, kSecMatchLimit: 10]) as? [NSData])?.count == 1)
    }

    @Test("69: as? NSArray, as? [Any], as? CFArray, as? Array<Dictionary<String, AnyObject>>")
    func arrays() {
        let result = find([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])
        #expect((result as? NSArray)?.count == 1)
        #expect((result as? [Any])?.count == 1)
        #expect((result as! CFArray).count == 1)
        #expect((result as? Array<Dictionary<String, AnyObject>>)?.count == 1)
        #expect((result as? Array<[String: AnyHashable]>)?.count == 1)
    }

    @Test("70: one result or several, distinguished by casts")
    func oneOrSeveral() {
        func accounts(_ result: Any?) -> [String] {
            if let one = result as? [String: AnyHashable] { return [one[kSecAttrAccount as String] as? String ?? ""] }
            if let all = result as? [[String: AnyHashable]] {
                return all.compactMap { $0[kSecAttrAccount as String] as? String }
            }
            return []
        }
        #expect(accounts(find([kSecReturnAttributes: true])) == ["a"])
        #expect(accounts(find([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll])) == ["a"])
    }

    @Test("71: dates")
    func dates() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? [String: Any])
        let created = try #require(attributes[kSecAttrCreationDate as String] as? Date)
        #expect(abs(created.timeIntervalSinceNow) < 60)
        #expect((attributes[kSecAttrModificationDate as String] as? NSDate) != nil)
        #expect(attributes[kSecAttrCreationDate as String] as! CFDate as Date == created)
    }

    @Test("72: kSecAttrSynchronizable is the number 0, which casts to Bool as well")
    func synchronizable() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? [String: Any])
        #expect(attributes[kSecAttrSynchronizable as String] as? Int == 0)
        #expect(attributes[kSecAttrSynchronizable as String] as? Bool == false)
        #expect((attributes[kSecAttrSynchronizable as String] as? NSNumber)?.intValue == 0)
    }

    @Test("73: a persistent reference")
    func persistentReference() throws {
        let reference = try #require(find([kSecReturnPersistentRef: true]) as? Data)
        #expect(reference.count == 20)
        let query: [String: Any] = [
            kSecValuePersistentRef as String: reference, kSecReturnData as String: true,
        ]
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        #expect(result as? Data == Data("x".utf8))
    }

    @Test("74: as? [String: Data] of data and reference")
    func dataAndReference() {
        let parts = find([kSecReturnData: true, kSecReturnPersistentRef: true]) as? [String: Data]
        #expect(parts?.count == 2 && parts?[kSecValueData as String] == Data("x".utf8))
    }

    @Test("75: enumerating a dictionary of results")
    func enumerating() throws {
        let attributes = try #require(find([kSecReturnAttributes: true]) as? NSDictionary)
        var names: Set<String> = []
        for (name, _) in attributes { names.insert(name as! String) }
        #expect(names.isSuperset(of: ["acct", "svce", "labl", "agrp", "pdmn", "sync", "cdat", "mdat"]))
        #expect(!names.contains(kSecValueData as String))
    }

    @Test("76: the result as another query")
    func resultAsQuery() throws {
        var query = try #require(find([kSecReturnAttributes: true]) as? [String: Any])
        query[kSecClass as String] = kSecClassGenericPassword
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        #expect(result as? Data == Data("x".utf8))
    }

    @Test("77: JSONDecoder on the data")
    func json() throws {
        struct Token: Codable, Equatable { var access: String }
        let data = try JSONEncoder().encode(Token(access: "t"))
        SecItemUpdate(key as CFDictionary, [kSecValueData as String: data] as CFDictionary)
        let found = try #require(find([kSecReturnData: true]) as? Data)
        #expect(try JSONDecoder().decode(Token.self, from: found) == Token(access: "t"))
    }

    @Test("78: printing a result says no secret beyond what it holds")
    func description() {
        let text = "\(String(describing: find([kSecReturnAttributes: true])))"
        #expect(text.contains("label"))
    }
}
