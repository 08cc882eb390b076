import DeviceState
import Foundation
import LinuxSupport
import SystemPackage

/// A copy of every byte of an unused keychain and its log, in its directory, under an unused name.
///
/// The name does not exist before ``install()``.
struct PreservedCopy: ~Copyable {
    let path: String
    private let source: String
    private let stamps: [FileStamp]
    private let file: TemporaryFile?
    private let log: TemporaryFile?

    init(of source: String) throws(Errno) {
        self.source = source
        path = source + ".damaged-" + FileNameDate.free(after: source + ".damaged-")
        stamps = Self.stamps(of: source)
        let file = try Self.copied(source, to: path)
        let names = (SQLiteFileNames.log(of: source), SQLiteFileNames.log(of: path))
        log = try SQLiteFileNames.hasLog(source) ? Self.copied(names.0, to: names.1) : nil
        self.file = file
    }

    private static func copied(_ source: String, to path: String) throws(Errno) -> TemporaryFile? {
        let temporary = try TemporaryFile(for: path)
        do throws(CopyError<Errno>) { try temporary.copy(fileAt: source) } catch { throw error.cause }
        try temporary.synchronize()
        return temporary
    }

    /// Whether the keychain has not changed since it was copied.
    var isCurrent: Bool { Self.stamps(of: source) == stamps }

    /// Copies the bytes again, for modification, into a temporary file, whose lock shows that it is in use.
    func copy(to temporary: borrowing TemporaryFile) throws(Errno) {
        if let file = Self.place(of: file) {
            do throws(CopyError<Errno>) { try temporary.copy(fileAt: file) } catch { throw error.cause }
        }
        if let log = Self.place(of: log) { try temporary.copyLog(at: log) }
    }

    private static func place(of temporary: borrowing TemporaryFile?) -> String? {
        switch temporary {
        case .some(let temporary): temporary.path
        case .none: nil
        }
    }

    /// Creates the name, durably on return. The owner is that of the keychain.
    consuming func install() throws(Errno) {
        let (path, source) = (path, source)
        let names = [path] + (log == nil ? [] : [SQLiteFileNames.log(of: path)])
        try log?.install()
        try file?.install()
        for name in names { Self.setOwner(of: source, to: name) }
    }

    /// Gives a file that root creates next to another user's keychain to that user.
    static func setOwner(of source: String, to path: String) {
        let manager = FileManager.default
        guard let status = try? manager.attributesOfItem(atPath: source), let user = status[.ownerAccountID],
            let group = status[.groupOwnerAccountID]
        else { return }
        try? manager.setAttributes([.ownerAccountID: user, .groupOwnerAccountID: group], ofItemAtPath: path)
    }

    private static func stamps(of path: String) -> [FileStamp] {
        [FileStamp(path), FileStamp(SQLiteFileNames.log(of: path))]
    }
}
