import KeychainClient
import KeychainFile

// Stores a password with the mounted keychain and reads it again; with --file, opens a file that does not exist.
if CommandLine.arguments.contains("--file") {
    do {
        _ = try Keychain.open("/nonexistent/app.keychain", unlockingWith: .passphrase(Secret("correct horse")))
    } catch {
        print("no file: \(error)")
    }
} else {
    let keychain = try Keychain.mounted()
    try keychain.setPassword(Secret("correct horse"), service: "swift-package", account: "client")
    let password = try keychain.password(service: "swift-package", account: "client")
    print("a password of \(password.withBytes { $0.byteCount }) bytes")
}
