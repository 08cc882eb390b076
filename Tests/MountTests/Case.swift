import Foundation
import TestSupport
import Testing

/// A script in `Cases/` and the account that runs it.
///
/// Comment lines of the script are its settings:
/// - `# users: root`, `# users: user` or `# users: both`: the accounts that run it in every lane. Without it an
///   ordinary user runs it, and in the lane `all` root too.
/// - `# needs: NAME`: additional files for the directory of the case, see ``Case/resources``.
/// - `# seconds: N`: the approximate duration, for scripts that take more than about five seconds: the longest begin
///   first.
struct Case: CustomTestStringConvertible, Sendable {
    let file: URL
    let account: Account
    /// Approximate duration.
    let seconds: Int
    private let needs: Set<String>

    var name: String { file.deletingPathExtension().lastPathComponent }
    var testDescription: String { "\(name) \(account.testDescription)" }

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    private static let helpers = [
        "lib.sh", "accounts.sh", "scan.py", "rpc.py", "lock-table.py", "login.py", "load.py", "complete.py",
        "pages.sh", "items.sh", "display.sh", "hosts.py", "registry.py", "terminal.py",
    ]

    /// The program under test. KEYCHAINFS_CASE_PROGRAM names it (Tests/Proofs/packaged-program); by default it is the
    /// program that was built with the tests.
    static let program =
        ProcessInfo.processInfo.environment["KEYCHAINFS_CASE_PROGRAM"].map { URL(fileURLWithPath: $0) }
        ?? built("keychainfs")

    private static func built(_ name: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    }

    /// The cases of this lane, the longest first.
    static let all: [Case] = {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let scripts = files.filter { $0.pathExtension == "sh" && !helpers.contains($0.lastPathComponent) }
        return scripts.sorted { $0.path < $1.path }.flatMap(cases).filter(isChosen).sorted { $0.seconds > $1.seconds }
    }()

    /// Whether a case runs. KEYCHAINFS_CASES names the only cases to run, KEYCHAINFS_CASES_LEFT_OUT the cases that a
    /// build with a sanitizer cannot run (Tests/Sanitizers/left-out-cases).
    private static func isChosen(_ test: Case) -> Bool {
        let chosen = names(in: "KEYCHAINFS_CASES")
        return (chosen.isEmpty || chosen.contains(test.name))
            && !names(in: "KEYCHAINFS_CASES_LEFT_OUT").contains(test.name)
    }

    private static func names(in variable: String) -> [String] {
        ProcessInfo.processInfo.environment[variable]?.split(separator: " ").map(String.init) ?? []
    }

    private static func cases(_ file: URL) -> [Case] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        func values(_ setting: String) -> [String] {
            text.split(separator: "\n").filter { $0.hasPrefix("# \(setting): ") }.map {
                String($0.dropFirst(setting.count + 4))
            }
        }
        let isForBoth = values("users").contains("both") || (values("users").isEmpty && TestLane.isComplete)
        let accounts = isForBoth ? Account.allCases : values("users").compactMap(Account.init(rawValue:))
        return Account.available.filter((accounts.isEmpty ? [.user] : accounts).contains).map { account in
            Case(
                file: file, account: account, seconds: values("seconds").first.flatMap { Int($0) } ?? 3,
                needs: Set(values("needs")))
        }
    }

    /// The files that are copied into the directory of the case: the script, its helpers and the files that it needs.
    var resources: [URL] {
        // The table that L1-table compares with a mount, and the exit codes, from which no command differs.
        let pages = ["docs/locking.md", "docs/exit-codes.md"].map(Self.repository)
        return [file, Self.program] + pages + Self.helpers.map(Self.folder.appendingPathComponent)
            + Self.optional.filter { needs.contains($0.key) }.flatMap(\.value)
    }

    private static let optional: [String: [URL]] = [
        // Fixtures and vectors of the store format.
        "StoreFormat": [repository("Tests/StoreFormat")],
        // A library that makes synchronization slow.
        "SlowDisk": [folder.appendingPathComponent("../SlowDisk/slow_disk.c").standardizedFileURL],
        // The questions that are also put to a kernel file system.
        "PosixProbe": [repository("Tests/PosixProbe")],
        // The files that are installed besides the program.
        "share": [repository("share")],
        // The pages whose commands a reader copies.
        "pages": ["README.md", "docs/guide.md", "docs/recipes.md", "docs/services-and-login.md"].map(repository),
        // The command that installs, builds and mounts.
        "run": [repository("scripts/run")],
        "examples": ["TokenStorage", "Credentials", "QueryableStore", "NativeClient"].map(built),
        // A program that calls the SecItem functions.
        "SecItemProgram": [built("SecItemProgram")],
    ]

    private static func repository(_ path: String) -> URL {
        folder.appendingPathComponent("../../../" + path).standardizedFileURL
    }
}
