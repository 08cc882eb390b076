import Foundation
import Glibc

/// A directory outside /tmp that belongs to an account, for the files that a case needs: the checkout may be unreadable for it.
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

    /// Copies a file or a directory into this one. A program that was built with the tests is linked, unless it is in another file
    /// system: it is 40 MB, and each of a hundred cases needs it. Everything else is copied, since cases may change it.
    ///
    /// - Returns: The new path.
    @discardableResult
    func add(_ file: URL) throws -> String {
        let copy = path + "/" + file.lastPathComponent
        let isBuilt = file.deletingLastPathComponent() == Case.program.deletingLastPathComponent()
        if isBuilt, link(file.path, copy) == 0 { return copy }
        // By another process: while this one has a program open for writing, a child that another test forks inherits the
        // descriptor, and until it calls execve(2) the program cannot be executed (ETXTBSY).
        let result = try Command.run(["cp", "-R", "--preserve=mode", file.path, copy])
        guard result.code == 0 else { throw CommandError(message: result.output) }
        return copy
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
