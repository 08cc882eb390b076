import Foundation
package import Keychain
import SystemPackage

/// Where it is kept that a rekey is under way: a file of mode 0600 per store, beside the device key; there only as long as
/// it is. Its text is the generation of the user key that the rekey began with, in decimal.
package struct RekeyFile: RekeyStateStore {
    private static let byteLimit = 64
    private let directory: String

    /// `directory`: that of the device key. Made when a rekey begins.
    package init(directory: String) {
        self.directory = directory
    }

    /// `rekey.` and the store's identifier in hexadecimal.
    package func path(for store: [UInt8]) -> String { StateFile.path("rekey", store, in: directory) }

    /// One whose text says nothing is of a rekey all the same.
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
