import Foundation
import LinuxSupport
import SystemPackage

/// Small files of mode 0600 next to the device key, one per keychain and purpose. Each is replaced atomically.
enum StateFile {
    /// Returns the path: the purpose, and the store's identifier in hexadecimal.
    static func path(_ purpose: String, _ store: [UInt8], in directory: String) -> String {
        let digits = store.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return directory + "/" + purpose + "." + digits.joined()
    }

    /// Returns the first `limit` bytes; nil if the file does not exist, empty if it is not a regular file.
    ///
    /// - Throws: The errno of open(2), fstat(2) or read(2).
    static func contents(of path: String, limit: Int) throws(Errno) -> [UInt8]? {
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
            defer { try? file.close() }
            guard try Stat(file).type == .regular else { return [] }
            let handle = FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false)
            return [UInt8](try handle.read(upToCount: limit) ?? Data())
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch Errno.tooManySymbolicLinkLevels, Errno.noSuchAddressOrDevice {
            // A symbolic link; a socket.
            return []
        } catch {
            throw Errno(within: error)
        }
    }

    /// Replaces the contents, durably on return. Creates the directory if necessary.
    static func write(_ contents: [UInt8], to path: String, in directory: String) throws(Errno) {
        try FileRenaming.makeDirectory(directory)
        let temporaryFile = try TemporaryFile(for: path)
        try temporaryFile.write(contents)
        try temporaryFile.replace()
    }
}
