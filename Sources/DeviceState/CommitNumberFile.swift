package import Keychain
import Logging
import Synchronization
import SystemPackage

/// The store of commit numbers: one file of mode 0600 per keychain, next to the device key (S2).
package final class CommitNumberFile: CommitNumberStore {
    private static let byteLimit = 4096
    private let directory: String
    private let log = Logger(label: "keychainfs")
    /// Whether the last attempt failed, so that a permanent failure is logged once and not every minute.
    private let hasFailed = Atomic(false)

    /// - Parameter directory: The directory of the device key, created when a number is saved.
    package init(directory: String) {
        self.directory = directory
    }

    /// `commit-number.` and the store's identifier in hexadecimal.
    package func path(for store: [UInt8]) -> String { StateFile.path("commit-number", store, in: directory) }

    package func load(for store: [UInt8]) throws(KeychainFault) -> [UInt8]? {
        do throws(Errno) {
            return try StateFile.contents(of: path(for: store), limit: Self.byteLimit)
        } catch {
            throw .deviceFile(-error.rawValue)
        }
    }

    package func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault) {
        do throws(Errno) {
            try StateFile.write(record, to: path(for: store), in: directory)
            hasFailed.store(false, ordering: .relaxed)
        } catch {
            if !hasFailed.exchange(true, ordering: .relaxed) {
                log.warning(
                    "the commit number cannot be saved: an older copy of the keychain may not be detected",
                    metadata: ["directory": "\(directory)", "errno": "\(error.rawValue)"])
            }
            throw KeychainFault(error)
        }
    }
}
