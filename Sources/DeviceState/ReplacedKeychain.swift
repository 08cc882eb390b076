import Foundation
import LinuxSupport
package import SystemPackage

/// The second name under which a restore keeps the keychain that it replaces, and its log, if it has one.
///
/// Until the new keychain has the name both are the same file: a crash in between is told by that, and undone when the
/// keychain is opened next.
package struct ReplacedKeychain {
    /// Between the name of the keychain and the time.
    package static let mark = ".replaced-"
    /// Of the keychain.
    let path: String
    package let kept: String

    /// `time`: `20261121T054408Z`.
    package init(of path: String, time: String) {
        self.path = path
        kept = path + Self.mark + time
    }

    private init(of path: String, kept: String) {
        self.path = path
        self.kept = kept
    }

    /// Gives it the second name; its log is gone from beside the first one, and would be taken for the new keychain's there.
    /// On a file system without hard links nothing lies at the first name from then on.
    package func keep() throws(Errno) {
        do throws(Errno) {
            try FileRenaming.link(path, kept)
        } catch .notPermitted {
            try FileRenaming.renameNoReplace(path, kept)
            if SQLiteFileNames.hasLog(path) { try FileRenaming.renameNoReplace(log(path), log(kept)) }
            return try synchronize()
        }
        guard SQLiteFileNames.hasLog(path) else { return }
        try FileRenaming.link(log(path), log(kept))
        try synchronize()
        SQLiteFileNames.removeLog(of: path)
    }

    /// Gives back what ``keep()`` has taken, as far as it came.
    package func undo() {
        if !Self.exists(path) { try? FileRenaming.renameNoReplace(kept, path) }
        guard restoreLog(), Self.isSame(kept, path) else { return }
        for name in [log(kept), kept] { try? FileManager.default.removeItem(atPath: name) }
    }

    /// The log's path: with the second name once ``keep()`` has given it that.
    var presentLog: String { Self.exists(log(kept)) ? log(kept) : log(path) }

    /// Without its log the keychain lacks what was committed last: whether it has what there is of it, durably.
    private func restoreLog() -> Bool {
        guard Self.exists(log(kept)) else { return true }
        if !Self.exists(log(path)) {
            do throws(Errno) { try FileRenaming.link(log(kept), log(path)) } catch {
                try? FileRenaming.renameNoReplace(log(kept), log(path))
            }
        }
        guard (try? synchronize()) != nil else { return false }
        return !Self.exists(log(kept)) || Self.isSame(log(kept), log(path))
    }

    /// What a restore of that keychain has left that was cut off; nil if there is none, or it is still at work.
    package static func interrupted(of path: String) -> ReplacedKeychain? {
        guard let status = status(path), status.linkCount > 1 else { return nil }
        let directory = FilePath(path).removingLastComponent().string
        guard !TemporaryFiles(in: FilePath(directory)).isAnyInUse else { return nil }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let prefix = (FilePath(path).lastComponent?.string ?? "") + mark
        return names.filter { $0.hasPrefix(prefix) }.map { directory + "/" + $0 }.first { isSame($0, path) }
            .map { ReplacedKeychain(of: path, kept: $0) }
    }

    private func log(_ path: String) -> String { SQLiteFileNames.log(of: path) }

    private func synchronize() throws(Errno) {
        try FileRenaming.synchronize(directory: FilePath(path).removingLastComponent().string)
    }

    private static func exists(_ path: String) -> Bool { status(path) != nil }

    private static func isSame(_ path: String, _ other: String) -> Bool {
        guard let file = status(path).map(FileIdentity.init) else { return false }
        return file == status(other).map(FileIdentity.init)
    }

    /// The status of a file, of a symbolic link itself; nil if stat(2) fails.
    private static func status(_ path: String) -> Stat? {
        try? Stat(FilePath(path), followTargetSymlink: false)
    }
}
