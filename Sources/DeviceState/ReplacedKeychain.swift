import Foundation
import LinuxSupport
package import SystemPackage

/// The second name under which a restore preserves the keychain that it replaces, and its log.
///
/// Until the new keychain has the first name, both names refer to one file. A crash before that is recognized by this,
/// and undone when the keychain is opened next.
package struct ReplacedKeychain {
    /// The text between the name of the keychain and the time.
    package static let mark = ".replaced-"
    /// The path of the keychain.
    let path: String
    package let kept: String

    /// - Parameter time: The time, such as `20261121T054408Z`.
    package init(of path: String, time: String) {
        self.path = path
        kept = path + Self.mark + time
    }

    private init(of path: String, kept: String) {
        self.path = path
        self.kept = kept
    }

    /// Creates the second name, and moves the log, which would otherwise be used for the new keychain. On a file system
    /// without hard links no file has the first name afterwards.
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

    /// Undoes ``keep()``, even an incomplete one.
    package func undo() {
        if !Self.exists(path) { try? FileRenaming.renameNoReplace(kept, path) }
        guard restoreLog(), Self.isSame(kept, path) else { return }
        for name in [log(kept), kept] { try? FileManager.default.removeItem(atPath: name) }
    }

    /// The path of the log: next to the second name if ``keep()`` has moved it.
    var presentLog: String { Self.exists(log(kept)) ? log(kept) : log(path) }

    /// Moves the log back: without it the keychain lacks the newest commits.
    ///
    /// - Returns: Whether the keychain has its log, if one exists, durably.
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

    /// Returns the second name that an interrupted restore has left; nil if no restore was interrupted, or the restore is still
    /// running.
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
