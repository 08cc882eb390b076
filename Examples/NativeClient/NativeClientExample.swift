import Glibc
import KeychainClient

@main
struct NativeClientExample {
    /// Passwords through the Swift-native API. `--keep` leaves them there.
    static func main() {
        do {
            try run()
        } catch {
            print("error:", error)
            exit(1)
        }
    }

    private static func run() throws {
        let keychain = try Keychain.mounted()

        // A generic password: set, read, described.
        let password = try Secret("correct horse")
        try keychain.setPassword(
            password, service: "org.example.mail", account: "amy",
            attributes: ItemAttributes(label: "Example mail", accessibility: .afterFirstUnlock))
        let found = try keychain.password(service: "org.example.mail", account: "amy")
        found.withBytes { bytes in print("the password has \(bytes.byteCount) bytes") }
        print("the same:", found.isEqual(to: password))

        // An internet password, with the attributes that distinguish it from others of its server.
        let key = ItemKey.internet(server: "example.com", account: "amy", protocol: .https, port: 8443)
        try keychain.set(try Secret(randomCount: 24), for: key, attributes: ItemAttributes(comment: "made up"))

        // A search, read item by item.
        var items = try keychain.items(matching: .generic(service: "org.example.mail"))
        while let item = try items.next() {
            print("found:", item.key?.account ?? "?", item.attributes.label ?? "")
        }

        guard !CommandLine.arguments.contains("--keep") else { return }
        try keychain.remove(key)
        let wasThere = try keychain.removePassword(service: "org.example.mail", account: "amy")
        print(wasThere ? "removed" : "there was none")
    }
}
