import Foundation
package import Keychain
import SystemPackage

/// The state of a running rekey: a file of mode 0600 per keychain, next to the device key, which exists only during a
/// rekey. Contains the generation of the user key with which the rekey began, in decimal.
package struct RekeyFile: RekeyStateStore {
    private static let byteLimit = 64
    private let directory: String

    /// - Parameter directory: The directory of the device key, created when a rekey begins.
    package init(directory: String) {
        self.directory = directory
    }

    /// `rekey.` and the store's identifier in hexadecimal.
    package func path(for store: [UInt8]) -> String { StateFile.path("rekey", store, in: directory) }

    /// Returns the generation. A file with invalid contents represents a rekey, too.
    package func rekeyGeneration(of store: [UInt8]) -> Int64? {
        guard let text = StateFile.contents(of: path(for: store), limit: Self.byteLimit) else { return nil }
        return Int64(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    package func keep(rekeyGeneration: Int64?, of store: [UInt8]) throws(KeychainFault) {
        let path = path(for: store)
        do throws(Errno) {
            guard let rekeyGeneration else { return try StateFile.remove(path) }
            try StateFile.write(Array("\(rekeyGeneration)\n".utf8), to: path, in: directory)
        } catch {
            throw error == .noSpace ? .diskFull : .io(-error.rawValue)
        }
    }
}
