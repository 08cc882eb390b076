import Foundation
import SystemPackage

/// What processes have left that were killed while they wrote a file that had no name yet: drafts of keychains, backups and
/// state files, and what SQLite keeps beside them.
package enum Leftovers {
    /// What the names of all drafts begin with; KeychainStorage has the same.
    static let prefix = ".keychainfs-new-"
    private static let companions = ["-wal", "-shm", "-journal"]
    /// On a file system without flock(2): nobody writes to one for so long, in seconds.
    private static let patience: TimeInterval = 3600

    /// Removes those that lie in a directory and that nobody is at work on.
    package static func remove(in directory: String) {
        let names = names(in: directory)
        for draft in drafts(names) where isAbandoned(directory + "/" + draft) {
            for end in companions + [""] where names.contains(draft + end) {
                try? FileManager.default.removeItem(atPath: directory + "/" + draft + end)
            }
        }
    }

    /// Whether somebody is at work on one that lies in a directory.
    package static func isAnyInUse(in directory: String) -> Bool {
        drafts(names(in: directory)).contains { !isAbandoned(directory + "/" + $0) }
    }

    private static func names(in directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).filter { $0.hasPrefix(prefix) }
    }

    private static func drafts(_ names: [String]) -> Set<String> { Set(names.map(draftName)) }

    private static func draftName(_ name: String) -> String {
        companions.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
    }

    /// Whoever writes to it has a shared lock on it; gone already, it has left its companions only.
    private static func isAbandoned(_ path: String) -> Bool {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        } catch {
            return error as? Errno == .noSuchFileOrDirectory
        }
        defer { try? file.close() }
        if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno != EWOULDBLOCK else { return false }
        let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        return date.map { -$0.timeIntervalSinceNow > patience } ?? false
    }
}
