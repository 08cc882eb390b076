import Foundation
import Security
import SecurityTesting
import Testing

@Suite("patterns: access controls and errors", .memoryKeychain)
struct AccessControls {
    private func query(_ more: [CFString: Any] = [:]) -> CFDictionary {
        let key: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrAccount: "a"]
        return key.merging(more) { $1 } as CFDictionary
    }

    @Test("101: with an error pointer")
    func created() throws {
        var error: Unmanaged<CFError>?
        guard
            let control = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error)
        else { throw error!.takeRetainedValue() as Error }
        #expect(error == nil)
        #expect(SecItemAdd(query([kSecAttrAccessControl: control, kSecValueData: Data("x".utf8)]), nil) == 0)
        var result: CFTypeRef?
        #expect(SecItemCopyMatching(query([kSecReturnAttributes: true]), &result) == errSecSuccess)
        let attributes = try #require(result as? [String: Any])
        #expect(attributes[kSecAttrAccessControl as String] as! SecAccessControl == control)
        #expect(attributes[kSecAttrAccessible as String] as? String == "aku")
    }

    @Test("102: without one, and nil for the allocator")
    func unchecked() {
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)!
        #expect(SecItemAdd(query([kSecAttrAccessControl: control as Any]), nil) == errSecSuccess)
    }

    @Test("103: a set of flags, combined step by step")
    func flagSets() {
        var flags: SecAccessControlCreateFlags = []
        flags.insert(.devicePasscode)
        flags.formUnion([.or])
        #expect(flags.contains(.devicePasscode) && flags.rawValue == 1 << 4 | 1 << 14)
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, flags, nil) != nil)
    }

    @Test("104: a protection as String, as CFString and as CFTypeRef")
    func protections() {
        let name = kSecAttrAccessibleWhenUnlocked as String
        #expect(SecAccessControlCreateWithFlags(nil, name as CFString, [], nil) != nil)
        #expect(SecAccessControlCreateWithFlags(nil, name as CFTypeRef, [], nil) != nil)
        #expect(SecAccessControlCreateWithFlags(nil, name as AnyObject, [], nil) != nil)
    }

    @Test("105: flags that need hardware make an object, and the item is refused, never stored unprotected")
    func hardware() throws {
        let flags: SecAccessControlCreateFlags = [.biometryCurrentSet, .privateKeyUsage]
        var attributes: [CFString: Any] = [kSecValueData: Data("x".utf8)]
        attributes[kSecAttrAccessControl] = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, flags, nil)
        #expect(attributes.count == 2)
        #expect(SecItemAdd(query(attributes), nil) == errSecParam)
        #expect(SecItemCopyMatching(query(), nil) == errSecItemNotFound)
        #expect(SecItemAdd(query(), nil) == errSecSuccess)
        #expect(SecItemUpdate(query(), attributes as CFDictionary) == errSecParam)
    }

    @Test("105: contradictory flags give an error")
    func contradiction() throws {
        var error: Unmanaged<CFError>?
        let control = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, [.biometryCurrentSet, .biometryAny], &error)
        #expect(control == nil)
        let found = try #require(error).takeRetainedValue()
        #expect(found.domain == NSOSStatusErrorDomain && found.code == Int(errSecParam))
        #expect(CFErrorGetCode(found) == -50 && CFErrorGetDomain(found) as String == NSOSStatusErrorDomain)
        #expect((CFErrorCopyUserInfo(found) as! [String: Any])[NSLocalizedDescriptionKey] != nil)
        #expect(CFErrorCopyDescription(found) as String == found.localizedDescription)
        #expect(!found.localizedDescription.isEmpty)
    }

    @Test("106: an error pointer through withUnsafeMutablePointer and takeUnretainedValue")
    func errorPointer() {
        var error: Unmanaged<CFError>?
        let control = withUnsafeMutablePointer(to: &error) {
            SecAccessControlCreateWithFlags(nil, "none" as CFString, .biometryAny, $0)
        }
        #expect(control == nil)
        #expect(error?.takeUnretainedValue().code == Int(errSecParam))
        error?.release()
    }

    @Test("107: SecCopyErrorMessageString as String?")
    func message() {
        #expect(SecCopyErrorMessageString(errSecSuccess, nil) as String? == "No error.")
        let text = SecCopyErrorMessageString(errSecItemNotFound, nil) as String? ?? "unknown"
        #expect(text == "The specified item could not be found in the keychain.")
    }

    @Test("108: SecCopyErrorMessageString as? String, and in an if let")
    func conditionalMessage() {
        if let message = SecCopyErrorMessageString(errSecDuplicateItem, nil) {
            #expect("\(message)" == "The specified item already exists in the keychain.")
            #expect((message as String).hasSuffix("keychain."))
        } else {
            #expect(Bool(false))
        }
    }

    @Test("109: an NSError of a status")
    func nsError() {
        let status = SecItemDelete(query())
        let error = NSError(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: SecCopyErrorMessageString(status, nil) ?? "?"])
        #expect(error.code == Int(errSecItemNotFound))
        #expect(error.localizedDescription == "The specified item could not be found in the keychain.")
    }

    @Test("110: an error type with the status inside")
    func ownError() {
        enum KeychainError: Error, Equatable, LocalizedError {
            case unhandled(status: OSStatus)
            var errorDescription: String? {
                guard case .unhandled(let status) = self else { return nil }
                return SecCopyErrorMessageString(status, nil) as String?
            }
        }
        func find() throws {
            let status = SecItemCopyMatching(query(), nil)
            guard status == errSecSuccess else { throw KeychainError.unhandled(status: status) }
        }
        #expect(throws: KeychainError.unhandled(status: errSecItemNotFound)) { try find() }
        #expect(KeychainError.unhandled(status: errSecParam).errorDescription?.hasPrefix("One or more") == true)
    }

    @Test("111: an enum of accessibilities with CFString raw values")
    func accessibilityEnum() {
        enum Accessibility: RawRepresentable, CaseIterable {
            case whenUnlocked, afterFirstUnlock
            init?(rawValue: CFString) {
                switch rawValue {
                case kSecAttrAccessibleWhenUnlocked: self = .whenUnlocked
                case kSecAttrAccessibleAfterFirstUnlock: self = .afterFirstUnlock
                default: return nil
                }
            }
            var rawValue: CFString {
                switch self {
                case .whenUnlocked: return kSecAttrAccessibleWhenUnlocked
                case .afterFirstUnlock: return kSecAttrAccessibleAfterFirstUnlock
                }
            }
        }
        for one in Accessibility.allCases { #expect(Accessibility(rawValue: one.rawValue) == one) }
        #expect(Accessibility(rawValue: String(kSecAttrAccessibleWhenUnlocked) as CFString) == .whenUnlocked)
    }

    @Test("112: an enum with String raw values initialized from constants")
    func stringEnum() {
        enum Protocol: CaseIterable {
            case https, ssh
            var rawValue: String {
                switch self {
                case .https: return String(kSecAttrProtocolHTTPS)
                case .ssh: return kSecAttrProtocolSSH as String
                }
            }
            init?(rawValue: String) {
                switch rawValue {
                case String(kSecAttrProtocolHTTPS): self = .https
                case String(kSecAttrProtocolSSH): self = .ssh
                default: return nil
                }
            }
        }
        #expect(Protocol(rawValue: "htps") == .https && Protocol(rawValue: "ssh ") == .ssh)
    }

    @Test("113: a dictionary from an enum to constants, searched by ==")
    func lookup() {
        let table: [Int: CFString] = [1: kSecAttrAccessibleWhenUnlocked, 2: kSecAttrAccessibleAlways]
        let wanted = "dk" as CFString
        #expect(table.first { $0.value == wanted }?.key == 2)
        #expect(kSecClass == "class" as CFString && kSecClass as String == "class")
        #expect(CFEqual(kSecAttrAccount, "acct" as CFString))
    }

    @Test("114: a class with its own OptionSet")
    func optionSet() {
        struct Policy: OptionSet {
            let rawValue: UInt
            static let userPresence = Policy(rawValue: 1 << 0)
            static let devicePasscode = Policy(rawValue: 1 << 4)
        }
        let flags = SecAccessControlCreateFlags(rawValue: CFOptionFlags(Policy.devicePasscode.rawValue))
        #expect(flags == .devicePasscode)
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil) != nil)
    }

    @Test("115: types distinguished by their type IDs")
    func typeIDs() {
        SecItemAdd(query([kSecValueData: Data("x".utf8)]), nil)
        var result: CFTypeRef?
        SecItemCopyMatching(query([kSecReturnData: true]), &result)
        #expect(CFGetTypeID(result!) == CFDataGetTypeID())
        SecItemCopyMatching(query([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]), &result)
        #expect(CFGetTypeID(result!) == CFArrayGetTypeID())
        SecItemCopyMatching(query([kSecReturnAttributes: true]), &result)
        #expect(CFGetTypeID(result!) == CFDictionaryGetTypeID())
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)!
        #expect(CFGetTypeID(control) == SecAccessControlGetTypeID())
    }
}
