import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
struct TokenStorageExample {
    /// `TokenStorage TOKEN`: keeps it, authorizes a request with it, and forgets it; with `--keep` it stays.
    static func main() {
        do {
            try run()
        } catch {
            print("error:", error)
            exit(1)
        }
    }

    private static func run() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let storage = TokenStorage(service: "api.example.com", account: "ci")
        try storage.delete()
        try storage.create(arguments.first ?? "t0ken")
        guard let url = URL(string: "https://api.example.com/v1/builds") else { return }
        var request = URLRequest(url: url)
        try request.authorize(with: storage)
        print("Authorization:", request.value(forHTTPHeaderField: "Authorization") ?? "none")
        do {
            try storage.create("another")
        } catch {
            print("created twice:", error)
        }
        guard !arguments.contains("--keep") else { return }
        try storage.delete()
        print("after delete:", try storage.read() ?? "none")
    }
}
