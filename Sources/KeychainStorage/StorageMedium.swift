internal import Foundation
internal import Keychain
internal import LinuxSupport
internal import SystemPackage

/// What a file system says of itself where SQLite knows an I/O error only: that it has become read-only, as the kernel makes
/// it after errors of the disk, or that a quota is used up.
enum StorageMedium {
    /// As much as finds room in no file that is there already.
    private static let probe = [UInt8](repeating: 0, count: 4096)

    /// Why a small file cannot be written in a directory, if that is the reason; it is gone again.
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
