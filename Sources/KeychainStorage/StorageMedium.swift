internal import Foundation
internal import Keychain
internal import LinuxSupport
internal import SystemPackage

/// The state of a file system, for an error that SQLite only reports as an I/O error: it has become read-only, as the
/// kernel makes it after disk errors, or a quota is exhausted.
enum StorageMedium {
    /// The contents of a test file, more than an existing block could hold.
    private static let probe = [UInt8](repeating: 0, count: 4096)

    /// Returns the reason why a small file cannot be written in a directory; nil if it can. Removes the file.
    static func writeFailure(in directory: FilePath) -> KeychainFault? {
        do {
            let (file, path) = try TemporaryFiles(in: directory).create()
            defer {
                try? FileManager.default.removeItem(atPath: path.string)
                try? file.close()
            }
            try file.writeAll(probe)
            try FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false).synchronize()
            return nil
        } catch {
            switch error as? Errno {
            case .readOnlyFileSystem: return .readOnly
            case .noSpace, .diskQuotaExceeded: return .diskFull
            default: return nil
            }
        }
    }
}
