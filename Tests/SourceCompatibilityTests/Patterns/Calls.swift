import Foundation
import Security
import SecurityTesting
import Testing

@Suite("patterns: how the functions are called", .memoryKeychain)
struct Calls {
    private let key: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "s",
        kSecAttrAccount as String: "a",
    ]
    private var withData: [String: Any] { key.merging([kSecValueData as String: Data("x".utf8)]) { $1 } }
    private var returningData: [String: Any] { key.merging([kSecReturnData as String: true]) { $1 } }

    @Test("79: unused results")
    func discarded() {
        SecItemAdd(withData as CFDictionary, nil)
        SecItemUpdate(key as CFDictionary, [kSecValueData: Data()] as CFDictionary)
        SecItemCopyMatching(key as CFDictionary, nil)
        SecItemDelete(key as CFDictionary)
        #expect(SecItemCopyMatching(key as CFDictionary, nil) == errSecItemNotFound)
    }

    @Test("80: &result of AnyObject?, CFTypeRef? and NSObject-like variables")
    func pointers() {
        SecItemAdd(withData as CFDictionary, nil)
        var object: AnyObject?
        var reference: CFTypeRef?
        #expect(SecItemCopyMatching(returningData as CFDictionary, &object) == errSecSuccess)
        #expect(SecItemCopyMatching(returningData as CFDictionary, &reference) == errSecSuccess)
        #expect(object as? Data == reference as? Data && object != nil)
    }

    @Test("81: withUnsafeMutablePointer and UnsafeMutablePointer($0)")
    func unsafePointer() {
        SecItemAdd(withData as CFDictionary, nil)
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) {
            SecItemCopyMatching(returningData as CFDictionary, UnsafeMutablePointer($0))
        }
        #expect(status == noErr && result as? Data == Data("x".utf8))
    }

    @Test("82: withUnsafeMutablePointer with a named pointer")
    func namedPointer() {
        SecItemAdd(withData as CFDictionary, nil)
        var result: AnyObject?
        let status: OSStatus = withUnsafeMutablePointer(to: &result) { pointer in
            SecItemCopyMatching(returningData as CFDictionary, pointer)
        }
        #expect(status == errSecSuccess && result != nil)
    }

    @Test("83: an allocated pointer")
    func allocatedPointer() {
        SecItemAdd(withData as CFDictionary, nil)
        let pointer = UnsafeMutablePointer<CFTypeRef?>.allocate(capacity: 1)
        pointer.initialize(to: nil)
        defer {
            pointer.deinitialize(count: 1)
            pointer.deallocate()
        }
        #expect(SecItemCopyMatching(returningData as CFDictionary, pointer) == errSecSuccess)
        #expect(pointer.pointee as? Data == Data("x".utf8))
    }

    @Test("84: the functions as values")
    func functionValues() {
        let add: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemAdd
        let copy: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemCopyMatching
        let update: (CFDictionary, CFDictionary) -> OSStatus = SecItemUpdate
        let delete: (CFDictionary) -> OSStatus = SecItemDelete
        #expect(add(withData as CFDictionary, nil) == errSecSuccess)
        #expect(copy(key as CFDictionary, nil) == errSecSuccess)
        #expect(update(key as CFDictionary, [kSecAttrLabel: "l"] as CFDictionary) == errSecSuccess)
        #expect(delete(key as CFDictionary) == errSecSuccess)
    }

    @Test("85: switch over a status")
    func switching() {
        func describe(_ status: OSStatus) -> String {
            switch status {
            case errSecSuccess: return "ok"
            case errSecItemNotFound: return "missing"
            case errSecDuplicateItem, errSecAuthFailed: return "other"
            default: return "?"
            }
        }
        #expect(describe(SecItemAdd(withData as CFDictionary, nil)) == "ok")
        #expect(describe(SecItemAdd(withData as CFDictionary, nil)) == "other")
        #expect(describe(SecItemDelete([kSecClass: kSecClassInternetPassword] as CFDictionary)) == "missing")
    }

    @Test("86: a status as the raw value of an enum")
    func rawValueEnum() {
        enum Status: OSStatus, Error {
            case success = 0
            case duplicate = -25299
            case missing = -25300
        }
        SecItemAdd(withData as CFDictionary, nil)
        #expect(Status(rawValue: SecItemAdd(withData as CFDictionary, nil)) == .duplicate)
        #expect(Status(rawValue: errSecItemNotFound) == .missing)
    }

    @Test("87: add, else update")
    func upsert() {
        func save(_ value: String) -> OSStatus {
            let status = SecItemAdd(
                key.merging([kSecValueData as String: Data(value.utf8)]) { $1 } as CFDictionary, nil)
            guard status == errSecDuplicateItem else { return status }
            return SecItemUpdate(
                key as CFDictionary, [kSecValueData as String: Data(value.utf8)] as [String: Any] as CFDictionary)
        }
        #expect(save("1") == errSecSuccess && save("2") == errSecSuccess)
        var result: CFTypeRef?
        SecItemCopyMatching(returningData as CFDictionary, &result)
        #expect(result as? Data == Data("2".utf8))
    }

    @Test("88: update, else add")
    func updateFirst() {
        let change: [CFString: Any] = [kSecValueData: Data("x".utf8)]
        var status = SecItemUpdate(key as CFDictionary, change as CFDictionary)
        #expect(status == errSecItemNotFound)
        if status == errSecItemNotFound { status = SecItemAdd(withData as CFDictionary, nil) }
        #expect(status == errSecSuccess)
        #expect(SecItemUpdate(key as CFDictionary, change as CFDictionary) == errSecSuccess)
    }

    @Test("89: delete, then add")
    func replace() {
        for value in ["1", "2"] {
            SecItemDelete(key as CFDictionary)
            let item = key.merging([kSecValueData as String: Data(value.utf8)]) { $1 }
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
        }
    }

    @Test("90: guard with two statuses, and !=")
    func tolerantDelete() {
        let status = SecItemDelete(key as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { return #expect(Bool(false)) }
        #expect(status != noErr)
    }

    @Test("91: existence without a result pointer")
    func existence() {
        #expect(SecItemCopyMatching(key as CFDictionary, nil) == errSecItemNotFound)
        SecItemAdd(withData as CFDictionary, nil)
        #expect(SecItemCopyMatching(key as CFDictionary, nil) == errSecSuccess)
    }

    @Test("92: a return key without a result pointer")
    func missingPointer() {
        SecItemAdd(withData as CFDictionary, nil)
        #expect(SecItemCopyMatching(returningData as CFDictionary, nil) == errSecParam)
        let off = key.merging([kSecReturnData as String: kCFBooleanFalse as Any]) { $1 }
        #expect(SecItemCopyMatching(off as CFDictionary, nil) == errSecSuccess)
    }

    @Test("93: SecItemAdd with return keys")
    func addReturning() {
        var result: CFTypeRef?
        let item = withData.merging([kSecReturnAttributes as String: true]) { $1 }
        #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
        #expect((result as? [String: Any])?[kSecAttrAccessGroup as String] as? String == "default")
        let other = item.merging([kSecAttrAccount as String: "b"]) { $1 }
        #expect(SecItemAdd(other as CFDictionary, nil) == errSecSuccess)
    }

    @Test("94: deleting every class in a loop")
    func wipe() {
        SecItemAdd(withData as CFDictionary, nil)
        let classes = [
            kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
            kSecClassIdentity,
        ]
        for itemClass in classes {
            let status = SecItemDelete([kSecClass as String: itemClass] as CFDictionary)
            #expect(status == errSecSuccess || status == errSecItemNotFound)
        }
        #expect(SecItemCopyMatching(key as CFDictionary, nil) == errSecItemNotFound)
        #expect(SecItemAdd([kSecClass: kSecClassKey] as NSDictionary, nil) == errSecNoSuchClass)
    }

    @Test("95: deleting with kSecMatchLimitAll, as for macOS")
    func deleteAll() {
        SecItemAdd(withData as CFDictionary, nil)
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "s",
            kSecMatchLimit as String: kSecMatchLimitAll,
        ]
        #expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    }

    @Test("96: kSecAttrSynchronizableAny, and items of both kinds")
    func synchronizable() {
        let synced = withData.merging([kSecAttrSynchronizable as String: kCFBooleanTrue as Any]) { $1 }
        #expect(SecItemAdd(withData as CFDictionary, nil) == errSecSuccess)
        #expect(SecItemAdd(synced as CFDictionary, nil) == errSecSuccess)
        var query = key
        query[kSecAttrSynchronizable as String] = kSecAttrSynchronizableAny
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecReturnAttributes as String] = true
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
        let flags = (result as? [[String: Any]])?.map { $0[kSecAttrSynchronizable as String] as? Bool }
        #expect(flags == [false, true])
    }

    @Test("97: an access group of the program, and another one")
    func accessGroups() {
        let own = withData.merging([kSecAttrAccessGroup as String: "default"]) { $1 }
        let foreign = withData.merging([kSecAttrAccessGroup as String: "foreign"]) { $1 }
        #expect(SecItemAdd(own as CFDictionary, nil) == errSecSuccess)
        #expect(SecItemAdd(foreign as CFDictionary, nil) == errSecMissingEntitlement)
    }

    @Test("98: the result in a variable declared before")
    func reused() {
        SecItemAdd(withData as CFDictionary, nil)
        var result: AnyObject? = nil
        var status = errSecNotAvailable
        status = SecItemCopyMatching(returningData as CFDictionary, &result)
        #expect(status == errSecSuccess && result is Data)
        status = SecItemCopyMatching(
            returningData.merging([kSecAttrAccount as String: "none"]) { $1 } as CFDictionary, &result)
        #expect(status == errSecItemNotFound && result == nil)
    }

    @Test("99: random bytes into an array and into Data")
    func random() {
        var bytes = [UInt8](repeating: 0, count: 32)
        let status = SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
        #expect(status == errSecSuccess && bytes != [UInt8](repeating: 0, count: 32))
        var data = Data(count: 32)
        let result = data.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, 32, $0.baseAddress!) }
        #expect(result == errSecSuccess && data != Data(count: 32))
    }

    @Test("100: many concurrent tasks")
    func concurrent() async {
        let statuses = await withTaskGroup(of: OSStatus.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let query: [String: Any] = [
                        kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "\(number)",
                    ]
                    SecItemAdd(query.merging([kSecValueData as String: Data()]) { $1 } as CFDictionary, nil)
                    return SecItemDelete(query as CFDictionary)
                }
            }
            return await group.reduce(into: [OSStatus]()) { $0.append($1) }
        }
        #expect(statuses == [OSStatus](repeating: errSecSuccess, count: 16))
    }
}
