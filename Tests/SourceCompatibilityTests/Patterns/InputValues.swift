import Foundation
import Security
import SecurityTesting
import Testing

@Suite("patterns: values that are put in", .memoryKeychain)
struct InputValues {
    private let key: [String: Any] = [
        kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: "example.com",
        kSecAttrAccount as String: "a",
    ]

    private func add(_ more: [String: Any]) -> OSStatus {
        SecItemAdd(key.merging(more) { $1 } as CFDictionary, nil)
    }

    private func attribute(_ name: CFString) -> Any? {
        var result: AnyObject?
        let query = key.merging([kSecReturnAttributes as String: true]) { $1 }
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return (result as? [String: Any])?[name as String]
    }

    @Test("31: kCFBooleanTrue as Any")
    func booleanAsAny() {
        #expect(add([kSecAttrIsInvisible as String: kCFBooleanTrue as Any]) == errSecSuccess)
        #expect(attribute(kSecAttrIsInvisible) as? Bool == true)
    }

    @Test("32: kCFBooleanTrue!")
    func booleanUnwrapped() {
        #expect(add([kSecAttrIsInvisible as String: kCFBooleanTrue!]) == errSecSuccess)
        #expect(attribute(kSecAttrIsInvisible) as? Int == 1)
    }

    @Test("33: true, and NSNumber(value: true)")
    func swiftBooleans() {
        #expect(add([kSecAttrIsInvisible as String: true, kSecAttrIsNegative as String: NSNumber(value: true)]) == 0)
        #expect(attribute(kSecAttrIsInvisible) as? NSNumber == 1)
        #expect(attribute(kSecAttrIsNegative) as? NSNumber == 1)
    }

    @Test("34: a conditional boolean")
    func conditionalBoolean() {
        let isHidden = !key.isEmpty
        #expect(add([kSecAttrIsInvisible as String: isHidden ? kCFBooleanTrue as Any : kCFBooleanFalse as Any]) == 0)
        #expect(attribute(kSecAttrIsInvisible) as? Bool == true)
    }

    @Test("35: an Optional of a String that is boxed as Any")
    func optionalString() {
        let label: String? = "label"
        #expect(add([kSecAttrLabel as String: label as Any]) == errSecSuccess)
        #expect(attribute(kSecAttrLabel) as? String == "label")
    }

    @Test("36: nil boxed as Any is not a value")
    func nilValue() {
        let label: String? = nil
        #expect(add([kSecAttrLabel as String: label as Any]) == errSecParam)
    }

    @Test("37: integers of several types")
    func ports() {
        for port in [443, Int16(443), UInt32(443), NSNumber(value: 443)] as [Any] {
            #expect(add([kSecAttrPort as String: port]) == errSecSuccess)
            #expect(attribute(kSecAttrPort) as? Int == 443)
            #expect(SecItemDelete(key as CFDictionary) == errSecSuccess)
        }
    }

    @Test("38: a port as CFNumber")
    func portAsNumber() {
        let port: CFNumber = 8080 as CFNumber
        #expect(add([kSecAttrPort as String: port]) == errSecSuccess)
        #expect(attribute(kSecAttrPort) as? NSNumber == 8080)
    }

    @Test("39: protocol and authentication type constants")
    func constants() {
        let more: [String: Any] = [
            kSecAttrProtocol as String: kSecAttrProtocolHTTPS,
            kSecAttrAuthenticationType as String: kSecAttrAuthenticationTypeHTTPBasic as String,
        ]
        #expect(add(more) == errSecSuccess)
        #expect(attribute(kSecAttrProtocol) as? String == kSecAttrProtocolHTTPS as String)
        #expect(attribute(kSecAttrAuthenticationType) as! CFString == kSecAttrAuthenticationTypeHTTPBasic)
    }

    @Test("40: a FourCC as a number")
    func creator() {
        #expect(add([kSecAttrCreator as String: 0x61626364, kSecAttrType as String: NSNumber(value: 7)]) == 0)
        #expect(attribute(kSecAttrCreator) as? UInt32 == 0x61626364)
    }

    @Test("41: data of either kind")
    func data() {
        for value in [Data([1, 2]), NSData(data: Data([1, 2]))] as [Any] {
            #expect(add([kSecValueData as String: value]) == errSecSuccess)
            var result: CFTypeRef?
            SecItemCopyMatching(key.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
            #expect(result as? Data == Data([1, 2]))
            #expect(SecItemDelete(key as CFDictionary) == errSecSuccess)
        }
    }

    @Test("42: data as CFData")
    func cfData() {
        let data = "x".data(using: .utf8)! as CFData
        #expect(add([kSecValueData as String: data]) == errSecSuccess)
    }

    @Test("43: NSMutableData")
    func mutableData() {
        let data = NSMutableData()
        data.append(Data("x".utf8))
        #expect(add([kSecValueData as String: data]) == errSecSuccess)
        var result: CFTypeRef?
        SecItemCopyMatching(key.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
        #expect(result as? Data == Data("x".utf8))
    }

    @Test("44: a String as the data is errSecParam")
    func stringAsData() {
        #expect(add([kSecValueData as String: "x"]) == errSecParam)
    }

    @Test("45: a Substring, and an interpolated String")
    func substrings() {
        let name = "label and more".prefix(5)
        #expect(add([kSecAttrLabel as String: name, kSecAttrComment as String: "\(name)!"]) == errSecSuccess)
        #expect(attribute(kSecAttrLabel) as? String == "label")
        #expect(attribute(kSecAttrComment) as? String == "label!")
    }

    @Test("46: a String as CFString and as NSString")
    func bridged() {
        let label: CFString = "label" as CFString
        #expect(add([kSecAttrLabel as String: label, kSecAttrComment as String: NSString(string: "c")]) == 0)
        #expect(attribute(kSecAttrLabel) as? String == "label")
    }

    @Test("47: attributes that are data")
    func dataAttribute() {
        #expect(add([kSecAttrLabel as String: Data([0xFF, 0])]) == errSecSuccess)
        #expect(attribute(kSecAttrLabel) as? Data == Data([0xFF, 0]))
    }

    @Test("48: a context that is not of LocalAuthentication: any object is accepted")
    func context() {
        final class Context {}
        #expect(add([:]) == errSecSuccess)
        let query = key.merging([kSecUseAuthenticationContext as String: Context()]) { $1 }
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
    }

    @Test("49: an object that is not a valid attribute value")
    func oddObject() {
        struct Odd {}
        #expect(add([kSecAttrLabel as String: Odd()]) == errSecParam)
        #expect(add([kSecAttrLabel as String: ["a", "b"]]) == errSecParam)
        #expect(add([kSecAttrLabel as String: ["a": 1]]) == errSecParam)
        #expect(add([kSecAttrLabel as String: NSNull()]) == errSecParam)
    }

    @Test("50: kSecUse… keys that prompt no user")
    func useKeys() {
        let more: [String: Any] = [
            kSecUseDataProtectionKeychain as String: true,
            kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail,
            kSecUseOperationPrompt as String: "why",
        ]
        #expect(add(more) == errSecSuccess)
        #expect(SecItemCopyMatching(key.merging(more) { $1 } as CFDictionary, nil) == errSecSuccess)
    }

    @Test("51: every accessibility constant that does not need a device passcode")
    func accessible() {
        let all = [
            kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
            kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
        ]
        for accessible in all {
            #expect(add([kSecAttrAccessible as String: accessible]) == errSecSuccess)
            #expect(attribute(kSecAttrAccessible) as? String == accessible as String)
            #expect(SecItemDelete(key as CFDictionary) == errSecSuccess)
        }
    }

    @Test("52: a date in an update of the creation date")
    func creationDate() {
        let date = Date(timeIntervalSinceReferenceDate: 1000.5)
        #expect(add([:]) == errSecSuccess)
        #expect(SecItemUpdate(key as CFDictionary, [kSecAttrCreationDate as String: date] as CFDictionary) == 0)
        #expect(attribute(kSecAttrCreationDate) as? Date == date)
    }
}
