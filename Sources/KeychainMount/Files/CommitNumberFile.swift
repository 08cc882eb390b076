import Foundation
package import Keychain
import Logging
import Synchronization
import SystemPackage

/// Where commit numbers are kept: a file of mode 0600 per store, beside the device key (S2).
package final class CommitNumberFile: CommitNumberKeeper {
    private static let byteLimit = 4096
    private let directory: String
    private let log = Logger(label: "keychainfs")
    /// Whether the last attempt failed: it is said once, not every minute.
    private let hasFailed = Atomic(false)

    /// `directory`: that of the device key. Made when something is kept.
    package init(directory: String) {
        self.directory = directory
    }

    /// `commit-number.` and the store's identifier in hexadecimal.
    package func path(for store: [UInt8]) -> String {
        let digits = store.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return directory + "/commit-number." + digits.joined()
    }

    package func kept(for store: [UInt8]) -> [UInt8]? {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(
                FilePath(path(for: store)), .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
        } catch Errno.noSuchFileOrDirectory {
            return nil
        } catch {
            return []
        }
        defer { try? file.close() }
        let handle = FileHandle(fileDescriptor: file.rawValue, closeOnDealloc: false)
        return [UInt8]((try? handle.read(upToCount: Self.byteLimit)) ?? Data())
    }

    package func keep(_ record: [UInt8], for store: [UInt8]) throws(KeychainError) {
        do throws(Errno) {
            try write(record, for: store)
            hasFailed.store(false, ordering: .relaxed)
        } catch {
            if !hasFailed.exchange(true, ordering: .relaxed) {
                log.warning(
                    "the commit number cannot be kept: an older copy of the keychain may not be told",
                    metadata: ["directory": "\(directory)", "errno": "\(error.rawValue)"])
            }
            throw error == .noSpace ? .diskFull : .io(-error.rawValue)
        }
    }

    private func write(_ record: [UInt8], for store: [UInt8]) throws(Errno) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Errno(within: error)
        }
        let draft = try DraftFile(for: path(for: store))
        try draft.write(record)
        try draft.replace()
    }
}
