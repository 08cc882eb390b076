import Foundation
import Security
import SecurityTesting
import Testing

@Suite("patterns: functions of Core Foundation", .memoryKeychain)
struct CoreFoundationPatterns {
    @Test("130: a query that CFDictionaryCreateMutable created")
    func dictionary() throws {
        var keys = kCFTypeDictionaryKeyCallBacks
        var values = kCFTypeDictionaryValueCallBacks
        let query = CFDictionaryCreateMutable(kCFAllocatorDefault, 3, &keys, &values)!
        let (account, secret): (CFString, CFData) = ("a" as CFString, Data("secret".utf8) as CFData)
        CFDictionarySetValue(
            query, unsafeBitCast(kSecClass, to: UnsafeRawPointer.self),
            unsafeBitCast(kSecClassGenericPassword, to: UnsafeRawPointer.self))
        CFDictionarySetValue(
            query, Unmanaged.passUnretained(kSecAttrAccount).toOpaque(), Unmanaged.passUnretained(account).toOpaque())
        CFDictionarySetValue(
            query, Unmanaged.passUnretained(kSecValueData).toOpaque(), Unmanaged.passUnretained(secret).toOpaque())
        CFDictionarySetValue(
            query, Unmanaged.passUnretained(kSecReturnData).toOpaque(),
            Unmanaged.passUnretained(kCFBooleanTrue).toOpaque())
        var result: CFTypeRef?
        #expect(SecItemAdd(query, &result) == errSecSuccess)
        let data = try #require(result) as! CFData
        #expect(CFDataGetLength(data) == CFStringGetLength("secret" as CFString))
        #expect(
            String(decoding: UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: 6), as: UTF8.self) == "secret")
        withExtendedLifetime((account, secret)) {}
    }

    @Test("131: a secret in the caller's memory")
    func uncopiedData() {
        var bytes = Array("secret".utf8)
        bytes.withUnsafeMutableBufferPointer { buffer in
            let data = CFDataCreateWithBytesNoCopy(
                kCFAllocatorDefault, buffer.baseAddress, buffer.count, kCFAllocatorNull)
            let item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecValueData: data as Any]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        }
        var result: CFTypeRef?
        #expect(
            SecItemCopyMatching([kSecClass: kSecClassGenericPassword, kSecReturnData: true] as CFDictionary, &result)
                == 0)
        #expect(result as? Data == Data(bytes))
    }

    @Test("132: a creator as four characters, and a Boolean of a result")
    func values() throws {
        let creator: FourCharCode = "kcfs".utf8.reduce(0) { $0 << 8 | FourCharCode($1) }
        let key: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrCreator: creator]
        #expect(SecItemAdd(key as CFDictionary, nil) == errSecSuccess)
        var result: CFTypeRef?
        let query = key.merging([kSecReturnAttributes: kCFBooleanTrue as Any]) { $1 }
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        let attributes = try #require(result as? [CFString: Any])
        #expect(attributes[kSecAttrCreator] as? FourCharCode == creator)
        #expect(CFBooleanGetValue((query[kSecReturnAttributes] as! CFBoolean)))
    }

    @Test("133: attributes that this keychain does not have are refused")
    func attributes() {
        func add(_ attribute: CFString, _ value: Any) -> OSStatus {
            let item: [CFString: Any] = [kSecClass: kSecClassGenericPassword, attribute: value]
            return SecItemAdd(item as CFDictionary, nil)
        }
        #expect(add(kSecAttrSyncViewHint, "Passwords") == errSecParam)
        #expect(add(kSecAttrAccess, "access") == errSecNoSuchAttr)
        #expect(add(kSecAttrPersistentReference, Data(count: 16)) == errSecParam)
        #expect(SecItemCopyMatching([kSecClass: kSecClassGenericPassword] as CFDictionary, nil) == errSecItemNotFound)
    }
}
