import Foundation
import Security
import Testing

@Suite("constants and messages")
struct ConstantTests {
    @Test("protocols, with their spaces")
    func protocols() {
        #expect(kSecAttrProtocolFTP == "ftp " && kSecAttrProtocolHTTPS == "htps" && kSecAttrProtocolSOCKS == "sox ")
        #expect(kSecAttrProtocolSSH == "ssh " && kSecAttrProtocolPOP3S == "pops" && kSecAttrProtocolTelnetS == "tels")
    }

    @Test("keys of every family")
    func keys() {
        #expect(kSecClass == "class" && kSecClassInternetPassword == "inet" && kSecMatchLimitAll == "m_LimitAll")
        #expect(kSecUseDataProtectionKeychain == "nleg" && kSecAttrSynchronizableAny == "syna")
        #expect(kSecValuePersistentRef == "v_PersistentRef" && kSecReturnPersistentRef == "r_PersistentRef")
        #expect(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly == "akpu")
        #expect(kSecAttrKeyTypeECSECPrimeRandom == "73" && kSecAttrKeyClassSymmetric == "2")
        #expect(kSecAttrKeyTypeDES == "14" && kSecAttrKeyType3DES == "17" && kSecAttrKeyTypeRC2 == "23")
        #expect(kSecAttrKeyTypeRC4 == "25" && kSecAttrKeyTypeCAST == "56" && kSecAttrKeyTypeAES == "2147483649")
        #expect(kSecAttrAccess == "acls" && kSecAttrSyncViewHint == "vwht")
        #expect(
            kSecAttrPersistentReference == "persistref" && kSecAttrPersistentReference == kSecAttrPersistantReference)
    }

    @Test("messages: of the table, of an errno, of neither")
    func messages() {
        func message(_ status: OSStatus) -> String? { SecCopyErrorMessageString(status, nil) as String? }
        #expect(message(errSecSuccess) == "No error.")
        #expect(message(errSecMissingEntitlement) == "A required entitlement isn't present.")
        #expect(message(errSecInteractionNotAllowed) == "User interaction is not allowed.")
        #expect(message(errSecDskFull) == "The disk is full.")
        #expect(message(errSecInvalidCertificateRef) == "An invalid certificate reference was encountered.")
        #expect(message(100_002) == "UNIX[No such file or directory]")
        #expect(message(100_255)?.hasPrefix("UNIX[") == true && message(100_256) == "OSStatus 100256")
        #expect(message(errSecInternalComponent) == "OSStatus -2070" && message(12) == "OSStatus 12")
        #expect(message(.min) == "OSStatus -2147483648")
    }

    @Test("an NSString is as a key what its String is")
    func anyHashable() {
        let values: [AnyHashable: Int] = ["acct": 1]
        #expect(values[kSecAttrAccount] == 1)
        #expect(AnyHashable(kSecAttrAccount) == AnyHashable("acct"))
        #expect(AnyHashable(NSMutableString(string: "é")) == AnyHashable("é"))
        #expect(Set([AnyHashable("a" as NSString), AnyHashable("a")]).count == 1)
    }

    @Test("random bytes: none, many, and a negative count")
    func random() {
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(SecRandomCopyBytes(kSecRandomDefault, 32, &bytes) == errSecSuccess)
        #expect(bytes[..<32].contains { $0 != 0 } && bytes[32...].allSatisfy { $0 == 0 })
        #expect(SecRandomCopyBytes(nil, 0, &bytes) == errSecSuccess)
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &bytes) == errSecParam)
    }
}
