import Foundation
import SecurityTesting
import Testing

@testable import Security

@Suite("access controls, reference 8.6")
struct AccessControlTests {
    private func status(_ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags) -> OSStatus {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection, flags, &error)
        guard let error = error?.takeRetainedValue() else {
            #expect(control != nil)
            return errSecSuccess
        }
        #expect(control == nil && error.domain == NSOSStatusErrorDomain)
        return OSStatus(error.code)
    }

    @Test(
        "8.6/67: contradictions",
        arguments: [
            [.or, .and], [.biometryAny, .biometryCurrentSet], [.userPresence, .devicePasscode],
            [.userPresence, .biometryAny], [.userPresence, .or],
        ] as [SecAccessControlCreateFlags])
    func contradictions(_ flags: SecAccessControlCreateFlags) {
        #expect(status(kSecAttrAccessibleWhenUnlocked, flags) == errSecParam)
    }

    @Test("8.6/67: an unknown protection class")
    func protections() {
        #expect(status("" as CFString, []) == errSecParam)
        #expect(status("ak " as CFString, []) == errSecParam)
        #expect(status(NSNull(), []) == errSecParam)
        #expect(status(NSNumber(value: 1), []) == errSecParam)
    }

    @Test(
        "8.6/68: what the unlocked keychain satisfies",
        arguments: [
            [], .userPresence, .devicePasscode, [.devicePasscode, .or], [.devicePasscode, .and], .or,
        ] as [SecAccessControlCreateFlags])
    func satisfied(_ flags: SecAccessControlCreateFlags) {
        #expect(status(kSecAttrAccessibleWhenUnlockedThisDeviceOnly, flags) == errSecSuccess)
    }

    @Test(
        "8.6/68: an object carries flags that cannot be enforced; SecItemAdd and SecItemUpdate refuse it",
        .memoryKeychain,
        arguments: [
            .biometryAny, .biometryCurrentSet, .touchIDAny, .companion, .watch, .privateKeyUsage, .applicationPassword,
            [.biometryAny, .devicePasscode, .and], [.userPresence, .applicationPassword, .privateKeyUsage],
            [.biometryAny, .devicePasscode, .or, .applicationPassword], SecAccessControlCreateFlags(rawValue: 1 << 20),
        ] as [SecAccessControlCreateFlags])
    func unenforceable(_ flags: SecAccessControlCreateFlags) throws {
        #expect(status(kSecAttrAccessibleWhenUnlocked, flags) == errSecSuccess)
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
        let protected = query.merging([kSecAttrAccessControl: control]) { $1 }
        #expect(SecItemAdd(protected as CFDictionary, nil) == errSecParam)
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecItemNotFound)
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        let change: [CFString: Any] = [kSecAttrAccessControl: control]
        #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecParam)
    }

    @Test("8.6/68: with `or`, the passcode suffices", .memoryKeychain)
    func alternative() throws {
        let flags: SecAccessControlCreateFlags = [.biometryAny, .or, .devicePasscode]
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecAttrAccessControl: control,
        ]
        #expect(SecItemAdd(query as CFDictionary, nil) == errSecSuccess)
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query.merging([kSecReturnAttributes: true]) { $1 } as CFDictionary, &result) == 0)
        #expect((result as? [CFString: Any])?[kSecAttrAccessControl] as? SecAccessControl == control)
    }

    @Test("equality and hash are of the values")
    func equality() throws {
        func make(_ protection: CFString, _ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
            try #require(SecAccessControlCreateWithFlags(nil, protection, flags, nil))
        }
        let one = try make(kSecAttrAccessibleWhenUnlocked, .userPresence)
        let same = try make(kSecAttrAccessibleWhenUnlocked, .userPresence)
        #expect(one == same && one !== same && one.hash == same.hash && Set([one, same]).count == 1)
        #expect(try one != make(kSecAttrAccessibleAlways, .userPresence))
        #expect(try one != make(kSecAttrAccessibleWhenUnlocked, .devicePasscode))
        #expect(CFEqual(one, same) && !one.isEqual("x"))
    }

    @Test("8.6/69: constraints and a synchronizable item, and an additional kSecAttrAccessible", .memoryKeychain)
    func inItems() throws {
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a", kSecAttrAccessControl: control,
        ]
        func add(_ more: [CFString: Any]) -> OSStatus { SecItemAdd(item.merging(more) { $1 } as CFDictionary, nil) }
        #expect(add([kSecAttrSynchronizable: true]) == errSecParam)
        #expect(add([kSecAttrAccessible: kSecAttrAccessibleAlways]) == errSecParam)
        #expect(add([kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]) == errSecSuccess)
    }
}
