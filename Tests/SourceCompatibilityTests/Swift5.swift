import Security
import SecurityTesting
import Testing

// Global and static variables of types that are not Sendable, which language mode 6 refuses.

private var baseQuery: [String: Any] = [kSecClass as String: kSecClassGenericPassword]

private class SharedKeychain {
    static let shared = SharedKeychain()
    static var service: NSString = "s"
    var lastStatus: OSStatus = noErr

    func save(_ key: String, _ value: NSString) -> Bool {
        let data: NSData = value.data(using: String.Encoding.utf8.rawValue, allowLossyConversion: false)! as NSData
        let query = NSMutableDictionary(
            objects: [kSecClassGenericPassword, SharedKeychain.service, key, data],
            forKeys: [kSecClass, kSecAttrService, kSecAttrAccount, kSecValueData])
        SecItemDelete(query as CFDictionary)
        lastStatus = SecItemAdd(query as CFDictionary, nil)
        return lastStatus == noErr
    }
}

@Suite("patterns of Swift 5", .memoryKeychain)
struct Swift5 {
    @Test("121: a global query that is changed")
    func globals() {
        var query = baseQuery
        query[kSecAttrAccount as String] = "a"
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
    }

    @Test("122: a singleton that is not Sendable, with NSString and NSData")
    func singleton() {
        #expect(SharedKeychain.shared.save("k", "v"))
        #expect(SharedKeychain.shared.save("k", "w"))
        var result: AnyObject?
        let query =
            [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "k", kSecReturnData: kCFBooleanTrue!]
            as [CFString: Any]
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == noErr)
        #expect(NSString(data: result as! Data, encoding: String.Encoding.utf8.rawValue) == "w")
    }
}
