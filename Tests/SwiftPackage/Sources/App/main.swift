import Foundation
import Security
import Unrelated
import X509

// Code for Apple's keychain, unchanged; with an argument it adds an item and reads it back.
let item: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword,
    kSecAttrService as String: "swift-package",
    kSecAttrAccount as String: "user",
]
if CommandLine.arguments.contains("--use") {
    var status = SecItemAdd(item.merging([kSecValueData as String: Data("value".utf8)]) { $1 } as CFDictionary, nil)
    var result: CFTypeRef?
    if status == errSecSuccess {
        status = SecItemCopyMatching(item.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
    }
    print("status \(status), secret \(String(decoding: result as? Data ?? Data(), as: UTF8.self))")
}
#if canImport(Security)
print("the program can import Security")
#endif
print("an unrelated package can import Security: \(Unrelated.canImportSecurity)")
print("certificates: \(try DistinguishedName { CommonName("keychainfs") })")
