import Glibc
import KeychainConnection
package import KeychainMount
import KeychainTree
package import SecretCrypto
import SystemPackage

/// Reads the secret of an item (contract, E13).
package struct ItemReader: Sendable {
    private let name: ItemName
    /// The duration of further tries while the item is locked or no keychain is mounted; nil for a single try.
    private let wait: Duration?

    package init(_ name: ItemName, wait: Duration? = nil) {
        (self.name, self.wait) = (name, wait)
    }

    /// Returns the complete secret. Waits in steps of one second.
    package func read() throws(CLIError) -> SecretBytes {
        let deadline = wait.map { ContinuousClock.now + $0 }
        while true {
            do throws(CLIError) {
                return try readOnce()
            } catch {
                let canChange = error.exitCode == .locked || error.exitCode == .notMounted
                guard canChange, let deadline, ContinuousClock.now < deadline else { throw error }
            }
            sleep(1)
        }
    }

    private func readOnce() throws(CLIError) -> SecretBytes {
        let item = try name.mountedItem()
        try item.requireResponse()
        return try Self.read(item)
    }

    /// Returns the complete secret of an item, whose daemon responds.
    ///
    /// - Parameter limit: The greatest number of bytes that the command can use; `impossible` if there are more.
    package static func read(
        _ item: MountedItem, limit: Int = TreeOptions.defaultValueLimit
    ) throws(CLIError) -> SecretBytes {
        do throws(Errno) {
            let file = try item.open(.readOnly)
            defer { try? file.close() }
            return try contents(of: file, limit: limit)
        } catch {
            switch error {
            case .noMemory: throw CLIError(CryptoError.outOfSecretMemory, reading: item.shown)
            case .fileTooLarge: throw CLIError(.impossible, "\(item.shown) has more than \(limit) bytes.")
            default: throw CLIError(error, item: item.shown)
            }
        }
    }

    private static func contents(of file: FileDescriptor, limit: Int) throws(Errno) -> SecretBytes {
        do throws(CryptoError) {
            return try SecretBytes.read(from: file.rawValue, limit: limit)
        } catch {
            throw error == .invalidParameter ? .fileTooLarge : error.errno
        }
    }
}
