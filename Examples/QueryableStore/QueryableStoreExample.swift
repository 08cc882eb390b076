import Glibc

@main
struct QueryableStoreExample {
    static func main() {
        do {
            try run()
        } catch {
            print("error:", error)
            exit(1)
        }
    }

    private static func run() throws {
        let generic = GenericPasswordQueryable(service: "org.example.editor")
        let internet = InternetPasswordQueryable(
            server: "git.example.com", port: 8443, path: "/api", scheme: .https)
        try use(SecureStore(queryable: generic), name: "generic")
        try use(SecureStore(queryable: internet), name: "internet")
    }

    /// Sets, gets, changes and removes; two accounts are left if the program is called with `--keep`.
    private static func use(_ store: SecureStore, name: String) throws {
        try store.removeAllValues()
        try store.setValue("pwd_1234", for: "genericPassword")
        try store.setValue("pwd_1235", for: "genericPassword")
        try store.setValue("other", for: "second")
        print(name, "set:", try store.getValue(for: "genericPassword") ?? "none")
        guard !CommandLine.arguments.contains("--keep") else { return }
        try store.removeValue(for: "genericPassword")
        print(name, "removed:", try store.getValue(for: "genericPassword") ?? "none")
        print(name, "other:", try store.getValue(for: "second") ?? "none")
        try store.removeAllValues()
        print(name, "all removed:", try store.getValue(for: "second") ?? "none")
    }
}
