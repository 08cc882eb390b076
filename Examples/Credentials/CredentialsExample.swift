import Glibc

@main
struct CredentialsExample {
    /// The life of a login. `--until-update` ends before it is deleted.
    static func main() {
        do {
            try run()
        } catch {
            print("error:", error)
            exit(1)
        }
    }

    private static func run() throws {
        let store = CredentialsStore(server: "www.example.com")
        try store.delete()
        try store.add(Credentials(username: "amy", password: "first"))
        print("added:", try store.find())
        try store.update(Credentials(username: "amy@example.com", password: "second"))
        print("updated:", try store.find())
        guard !CommandLine.arguments.contains("--until-update") else { return }
        try store.delete()
        do {
            print("still there:", try store.find())
        } catch KeychainError.noPassword {
            print("deleted")
        }
    }
}
