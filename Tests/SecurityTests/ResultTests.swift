import Security
import SecurityTesting
import Testing

@Suite("result pointers", .memoryKeychain)
struct ResultTests {
    private let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "service",
        kSecAttrAccount as String: "account",
    ]
    private let stale: NSString = "stale"

    init() {
        SecItemAdd(with([kSecValueData: Data("secret".utf8)]), nil)
    }

    private func with(_ more: [CFString: Any]) -> CFDictionary {
        item.merging(more.map { ($0.key as String, $0.value) }) { $1 } as CFDictionary
    }

    @Test("the objects are Foundation's")
    func classes() {
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(with([kSecReturnData: true]), &result) == errSecSuccess)
        #expect(result is NSData)
        #expect(SecItemCopyMatching(with([kSecReturnAttributes: true, kSecMatchLimit: 2]), &result) == errSecSuccess)
        #expect(result is NSArray && (result as? NSArray)?.firstObject is NSDictionary)
        let attributes = (result as? NSArray)?.firstObject as? NSDictionary
        #expect(attributes?[kSecAttrAccount] is NSString || attributes?[kSecAttrAccount] is String)
        let flag = attributes?[kSecAttrSynchronizable] as AnyObject
        #expect(flag is NSNumber)
        #expect(CFGetTypeID(flag) == CFNumberGetTypeID(), "a number, no boolean")
    }

    @Test("without a request for a result, without a match and after failures the pointer holds nil")
    func stalePointer() {
        var result: CFTypeRef? = stale
        #expect(SecItemCopyMatching(item as CFDictionary, &result) == errSecSuccess)
        #expect(result == nil)
        result = stale
        #expect(SecItemCopyMatching(with([kSecAttrAccount: "none", kSecReturnData: true]), &result) != errSecSuccess)
        #expect(result == nil)
        result = stale
        #expect(SecItemAdd(with([kSecReturnData: true]), &result) == errSecDuplicateItem)
        #expect(result == nil)
        result = stale
        #expect(SecItemAdd([:] as CFDictionary, &result) == errSecParam)
        #expect(result == nil)
    }

    @Test("a return key and no pointer: errSecParam in a search, a result less in an addition")
    func noPointer() {
        for key in [kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef] {
            #expect(SecItemCopyMatching(with([key: true]), nil) == errSecParam)
            #expect(SecItemCopyMatching(with([key: false]), nil) == errSecSuccess)
            let other = with([kSecAttrAccount: key, key: true])
            #expect(SecItemAdd(other, nil) == errSecSuccess)
            #expect(SecItemAdd(with([kSecAttrAccount: "\(key) 2", key: "yes"]), nil) == errSecParam)
        }
    }

    @Test("an item without data: success, and nil")
    func withoutData() {
        SecItemAdd(with([kSecAttrAccount: "empty"]), nil)
        var result: CFTypeRef? = stale
        #expect(SecItemCopyMatching(with([kSecAttrAccount: "empty", kSecReturnData: true]), &result) == errSecSuccess)
        #expect(result == nil)
    }

    @Test("an empty array is returned as nil")
    func emptyList() {
        SecItemAdd(with([kSecAttrAccount: "empty"]), nil)
        var result: CFTypeRef? = stale
        let query = with([kSecAttrAccount: "empty", kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll])
        #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
        #expect(result == nil)
    }

    @Test("a secret of no bytes, and one of the longest")
    func sizes() {
        for count in [0, 1, 65_536, 1 << 20] {
            let data = Data(repeating: 7, count: count)
            #expect(SecItemUpdate(item as CFDictionary, [kSecValueData: data] as CFDictionary) == errSecSuccess)
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(with([kSecReturnData: true]), &result) == errSecSuccess)
            #expect(result as? Data == data)
        }
        let long = [kSecValueData: Data(count: 1 << 20 + 1)] as CFDictionary
        #expect(SecItemUpdate(item as CFDictionary, long) == errSecDataTooLarge)
    }
}
