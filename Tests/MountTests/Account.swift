import Foundation
import TestSupport
import Testing

/// An account that runs a case: root, or an ordinary user, as most users are.
enum Account: String, CaseIterable, CustomTestStringConvertible {
    case root
    case user

    /// The name of the ordinary user, which root creates for the tests and scripts/test deletes.
    static let name = "keychainfs-test"

    var testDescription: String { "as \(rawValue)" }

    static var isRoot: Bool { getuid() == 0 }

    /// The accounts that this process can be.
    static var available: [Account] { isRoot ? [.root, .user] : [.user] }

    /// The accounts whose daemons' memory is scanned, which only root can do.
    static var scanned: [Account] { isRoot ? (TestLane.isComplete ? available : [.user]) : [] }

    /// The command line that runs `command` as this account.
    func running(_ command: [String]) throws -> [String] {
        guard self == .user, Self.isRoot else { return command }
        return ["runuser", "-u", try Self.ensureUser(), "--"] + command
    }

    /// Creates the ordinary user if it does not exist. Other threads and test processes may call this concurrently.
    static func ensureUser() throws -> String {
        try lock.withLock {
            if getpwnam(name) == nil {
                let result = try Command.run(creation(of: name))
                // Exit code 9: another test process has created it in the meantime (useradd(8)).
                guard [0, 9].contains(result.code) else { throw CommandError(message: "useradd: \(result.output)") }
            }
            return name
        }
    }

    /// The command that creates an account. useradd(8) looks for the name before it locks the files, so of two that run at the same
    /// time the second replaces the account by one with another number, and files of the first are no longer its own. The lock is
    /// on a directory, so that no file is left behind.
    static func creation(of name: String) -> [String] {
        ["flock", "/etc", "useradd", "--system", "--no-create-home", "--shell", "/bin/bash", name]
    }

    private static let lock = NSLock()
}

struct CommandError: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
