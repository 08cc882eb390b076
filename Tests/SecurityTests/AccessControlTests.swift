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

    @Test("8.6/67: what is no protection")
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
        "8.6/68: what needs hardware or an application's password is refused, never ignored",
        arguments: [
            .biometryAny, .biometryCurrentSet, .touchIDAny, .companion, .watch, .privateKeyUsage, .applicationPassword,
            [.biometryAny, .devicePasscode, .or], [.userPresence, .applicationPassword, .privateKeyUsage],
            SecAccessControlCreateFlags(rawValue: 1 << 20),
        ] as [SecAccessControlCreateFlags])
    func unavailable(_ flags: SecAccessControlCreateFlags) {
        #expect(status(kSecAttrAccessibleWhenUnlocked, flags) == errSecUnimplemented)
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

    @Test("8.6/69: constraints and a synchronizable item, and another class beside it", .memoryKeychain)
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
