import Foundation
import Passwords
import Security
import Tokens
import Unrelated
import X509

// With --use, adds an item and reads it, and does the same with the library whose sources import only Foundation.
if CommandLine.arguments.contains("--use") {
    let tokens = Tokens(account: "user")
    let status = tokens.add("value")
    print("status \(status), secret \(tokens.find() ?? "none")")
    let store = PasswordStore(service: "foundation-only")
    try store.set("password", for: "user")
    print("password \(try store.password(for: "user", allowingInteraction: false) ?? "none")")
}
print("biometry: \(DeviceOwner().explanation)")
#if canImport(Security)
print("the program can import Security: \(errSecSuccess)")
#endif
print("an unrelated package can import Security: \(Unrelated.canImportSecurity)")
print("certificates: \(try DistinguishedName { CommonName("keychainfs") })")
