import Foundation
import Testing

/// The cases in `Cases/`: shell scripts that use a mount as people do, each as root and as an ordinary user.
///
/// A case's name begins with the contract lines that it proves. Two run at a time, one of each account: most of their time they
/// wait.
@Suite struct CaseTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let file: URL
        let account: Account
        /// `# needs: StoreFormat`: fixtures and vectors of the store format.
        var needsStoreFormat: Bool { needs("StoreFormat") }
        /// `# needs: examples`: the programs of Examples.
        var needsExamples: Bool { needs("examples") }
        /// `# needs: share`: what is installed besides the program.
        var needsShare: Bool { needs("share") }

        /// `# needs: PosixProbe`: the questions that a kernel's file system is asked too.
        var needsPosixProbe: Bool { needs("PosixProbe") }
        /// `# needs: SecItemProgram`: a program that calls the SecItem functions.
        var needsSecItemProgram: Bool { needs("SecItemProgram") }

        private func needs(_ what: String) -> Bool {
            (try? String(contentsOf: file, encoding: .utf8))?.contains("# needs: \(what)\n") == true
        }

        var testDescription: String { "\(file.deletingPathExtension().lastPathComponent) \(account.testDescription)" }
    }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Cases")

    /// What the documentation says of locking: L1-table compares it with a mount.
    static let lockingPage = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/KeychainTree/Documentation.docc/Locking.md").standardizedFileURL

    /// The program that was built with the tests.
    static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("keychainfs")

    /// The programs of Examples, built with the tests.
    static let examples = ["TokenStorage", "Credentials", "QueryableStore", "NativeClient"].map {
        program.deletingLastPathComponent().appendingPathComponent($0)
    }

    /// Names of cases that a build with a sanitizer cannot run (Tests/Sanitizers/left-out-cases); empty otherwise.
    private static let leftOut =
        ProcessInfo.processInfo.environment["KEYCHAINFS_CASES_LEFT_OUT"]?.split(separator: " ").map(String.init) ?? []

    /// How long one may take; a sanitizer is many times slower (Tests/Proofs/sanitizer.sh).
    private static let seconds =
        ProcessInfo.processInfo.environment["KEYCHAINFS_CASE_SECONDS"].flatMap { Int($0) } ?? 150

    /// `# users: root` or `# users: user` in a case restricts who runs it.
    static let cases: [Case] = {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let scripts = files.filter {
            $0.pathExtension == "sh" && !["lib.sh", "accounts.sh"].contains($0.lastPathComponent)
                && !leftOut.contains($0.deletingPathExtension().lastPathComponent)
        }
        return scripts.sorted { $0.path < $1.path }.flatMap { file in
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            let wanted = Account.allCases.filter { account in
                !text.contains("users: ") || text.contains("users: \(account.rawValue)")
            }
            return Account.available.filter(wanted.contains).map { Case(file: file, account: $0) }
        }
    }()

    @Test("There are cases, and the program to try them on")
    func prepared() {
        #expect(Self.cases.count >= 12)
        #expect(FileManager.default.isExecutableFile(atPath: Self.program.path))
    }

    @Suite(.serialized) struct AsRoot {
        @Test("Case", arguments: CaseTests.cases.filter { $0.account == .root })
        func run(_ test: Case) throws { try CaseTests.run(test) }
    }

    @Suite(.serialized) struct AsUser {
        @Test("Case", arguments: CaseTests.cases.filter { $0.account == .user })
        func run(_ test: Case) throws { try CaseTests.run(test) }
    }

    private static func run(_ test: Case) throws {
        let directory = try WorkDirectory(for: test.account)
        defer { directory.remove() }
        let script = try directory.add(test.file)
        for helper in ["lib.sh", "accounts.sh", "scan.py", "rpc.py", "lock-table.py", "login.py", "load.py"] {
            _ = try directory.add(folder.appendingPathComponent(helper))
        }
        _ = try directory.add(lockingPage)
        if test.needsStoreFormat {
            _ = try directory.add(folder.appendingPathComponent("../../StoreFormat").standardizedFileURL)
        }
        if test.needsPosixProbe {
            _ = try directory.add(folder.appendingPathComponent("../../PosixProbe").standardizedFileURL)
        }
        if test.needsShare {
            _ = try directory.add(folder.appendingPathComponent("../../../share").standardizedFileURL)
        }
        if test.needsExamples { for example in examples { _ = try directory.add(example) } }
        if test.needsSecItemProgram {
            let built = program.deletingLastPathComponent().appendingPathComponent("SecItemProgram")
            _ = try directory.add(built)
        }
        let copy = try directory.add(program)
        let result = try Command.run(
            try test.account.running(["bash", script]),
            environment: ["KEYCHAINFS": copy, "CASE_DIR": directory.path], directory: directory.path,
            seconds: seconds)
        #expect(result.code == 0, "\(test.testDescription): exit code \(result.code)\n\(result.output)")
    }
}

/// A directory outside /tmp that belongs to the account, with copies of what it needs: the checkout may be out of reach.
struct WorkDirectory {
    let path: String

    init(for account: Account) throws {
        path = "/var/tmp/keychainfs-case-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        guard account == .user, Account.isRoot else { return }
        let user = try Account.ensureUser()
        let result = try Command.run(["chown", user, path])
        guard result.code == 0 else { throw CommandError(message: result.output) }
    }

    /// A copy. Made by another process: a program that this one has open for writing while another test forks cannot be
    /// run until that child has run its own (ETXTBSY).
    func add(_ file: URL) throws -> String {
        let copy = path + "/" + file.lastPathComponent
        let result = try Command.run(["cp", "-R", "--preserve=mode", file.path, copy])
        guard result.code == 0 else { throw CommandError(message: result.output) }
        return copy
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
