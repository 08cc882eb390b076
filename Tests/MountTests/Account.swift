import Foundation
import Testing

/// Who runs a case: root, or an ordinary user, as most users are.
enum Account: String, CaseIterable, CustomTestStringConvertible {
    case root
    case user

    /// The ordinary user that root makes for the tests; scripts/test removes it again.
    static let name = "keychainfs-test"

    var testDescription: String { "as \(rawValue)" }

    static var isRoot: Bool { getuid() == 0 }

    /// The accounts that this process can be.
    static var available: [Account] { isRoot ? [.root, .user] : [.user] }

    /// The command line that runs `command` as this account.
    func running(_ command: [String]) throws -> [String] {
        guard self == .user, Self.isRoot else { return command }
        return ["runuser", "-u", try Self.ensureUser(), "--"] + command
    }

    /// Makes the ordinary user if there is none. Several tests may ask at once.
    static func ensureUser() throws -> String {
        try lock.withLock {
            if getpwnam(name) == nil {
                let result = try Command.run(["useradd", "--system", "--no-create-home", "--shell", "/bin/bash", name])
                guard result.code == 0 else { throw CommandError(message: "useradd: \(result.output)") }
            }
            return name
        }
    }

    private static let lock = NSLock()
}

struct CommandError: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
