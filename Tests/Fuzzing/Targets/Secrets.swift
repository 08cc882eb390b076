import DeviceState
import Foundation
import Keychain
import KeychainMount
import KeychainTesting
import SecretCrypto

/// L5, S2, S3: data in files or typed by users: recovery keys, passphrase and key files, device keys, commit numbers.
/// The first byte selects the kind.
extension FuzzTarget {
    static let secrets = FuzzTarget(
        "secrets", limit: 512, cases: 300, words: ["0123456789ABCDEFGHJKMNPQRSTVWXYZ", "-", "\n", "\r\n", "iloILO"],
        examples: { try secretExamples() }
    ) { input in
        var reader = InputReader(input)
        let kind = reader.byte()
        let bytes = reader.remaining()
        switch kind % 5 {
        case 0: try recoveryKey(bytes)
        case 1: try passphraseFile(bytes)
        case 2: try keyFile(bytes)
        case 3: try deviceKey(bytes)
        default: try commitNumber(bytes)
        }
    }

    private static func secretExamples() throws -> [[UInt8]] {
        let key = try RecoveryKey().text()
        let text = [UInt8](copying: key.bytes)
        let digits = [UInt8](repeating: 7, count: 32)
        return [
            [0] + text, [0] + Array(String(decoding: text, as: UTF8.self).lowercased().utf8),
            [1] + Array("correct\n".utf8),
            [1, 10], [1, 13, 10], [2] + digits, [2], [3] + digits, [3] + digits.dropLast(),
            [4], [4, 40, 1], [4, 17, 1, 56, 255],
        ]
    }

    /// A key that is taken is written in one way, and holds the characters that were typed.
    private static func recoveryKey(_ bytes: [UInt8]) throws {
        let typed = try SecretBytes(copying: bytes.span.bytes)
        guard let key = try? RecoveryKey(typed: typed) else { return }
        let text = try key.text()
        let characters = [UInt8](copying: text.bytes)
        try hold(characters.count == 42 && characters.last == 10, "a recovery key of \(characters.count) characters")
        let again = try RecoveryKey(typed: text).text()
        try hold([UInt8](copying: again.bytes) == characters, "a recovery key that is another when it is typed")
        let normalized = String(decoding: bytes, as: UTF8.self).uppercased().filter { $0.isLetter || $0.isNumber }
        let meant = normalized.map { $0 == "O" ? "0" : $0 == "I" || $0 == "L" ? "1" : $0 }
        try hold(
            meant == String(decoding: characters, as: UTF8.self).filter { $0.isLetter || $0.isNumber }.map(\.self),
            "other characters than were typed")
    }

    private static func passphraseFile(_ bytes: [UInt8]) throws {
        let expected = bytes.last == 10 ? Array(bytes.dropLast()) : bytes
        try InputFile.with(bytes) { path in
            let read: [UInt8]?
            do throws(PassphraseError) {
                let found = try PassphraseReader.read(file: path).take()
                read = [UInt8](copying: found.bytes)
            } catch {
                try hold(error == .empty, "\(error)")
                read = nil
            }
            try hold(read == (expected.isEmpty ? nil : expected), "another passphrase than in the file")
        }
    }

    private static func keyFile(_ bytes: [UInt8]) throws {
        try InputFile.with(bytes) { path in
            let isKey = UnlockSecret.keyFileCounts.contains(bytes.count)
            var read: [UInt8]?
            do throws(CLIError) {
                let key = try KeyFile(path: path).read { _ in }
                read = [UInt8](copying: key.bytes.bytes)
            } catch {
                try hold(!isKey, "a key file of \(bytes.count) bytes is refused")
            }
            try hold(read == (isKey ? bytes : nil), "another key than in the file")
        }
    }

    private static func deviceKey(_ bytes: [UInt8]) throws {
        try InputFile.with(bytes) { path in
            let read: [UInt8]?
            do throws(DeviceKeyError) {
                let key = try DeviceKeyFile(path: path).read()
                read = [UInt8](copying: key.bytes)
            } catch {
                read = nil
            }
            try hold(read == (bytes.count == 32 ? bytes : nil), "another device key than in the file")
        }
    }

    /// Checks that only a record sealed with this store's keys allows an unlock. Of each pair of bytes the first one is
    /// a position in the record, the second one the change; an odd number of bytes is a complete record.
    private static func commitNumber(_ bytes: [UInt8]) throws {
        let genuine = try keptNumber.get()
        var record = bytes.count % 2 == 1 ? bytes : genuine
        if bytes.count % 2 == 0 {
            for index in stride(from: 0, to: bytes.count, by: 2) {
                record[Int(bytes[index]) % genuine.count] ^= bytes[index + 1]
            }
        }
        let memory = try MemoryKeychain(commitNumberStore: FixedNumber(record))
        let isUnlocked = (try? memory.unlock()) != nil
        try hold(isUnlocked == (record == genuine), "a forged commit number was accepted")
    }

    /// The original record.
    private static let keptNumber = Result { () throws -> [UInt8] in
        let memory = try MemoryKeychain()
        try memory.unlock()
        return try memory.keychain.keys.encodedState().bytes
    }
}

/// Always contains the same bytes.
private final class FixedNumber: CommitNumberStore {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func load(for store: [UInt8]) -> [UInt8]? { bytes }
    func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault) {}
}

/// A file with the input's bytes, deleted after it was read.
private enum InputFile {
    static func with(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("keychainfs-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
    }
}
