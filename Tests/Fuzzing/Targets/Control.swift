import FileSystemCore
import Foundation
import Keychain
import KeychainStorage
import KeychainTesting
import SecretCrypto

@testable import KeychainMount

/// Data that is written to `.keychainfs/control`: commands, each preceded by two bytes with its length.
extension FuzzTarget {
    static let control = FuzzTarget(
        "control", limit: 1024, cases: 150,
        words: [
            "lock\n", "unlock\n", "unlock --recovery\n", "unlock --key-file --accept-rollback\n", "slot list\n",
            "slot add\n", "slot verify\n", "slot change 1 1 8192 --delete-items\n", "slot remove 1\n", "rekey\n",
            "check\n",
            "correct",
        ],
        examples: { controlExamples }
    ) { input in
        let memory = try MemoryKeychain(commands: DaemonCommands.commands.get())
        try memory.unlock()
        var reader = InputReader(input)
        while !reader.isAtEnd {
            let command = reader.bytes(Int(reader.byte()) | Int(reader.byte()) << 8)
            guard isCheap(command) else { continue }
            try check(lineOf: command)
            try run(command, on: memory)
        }
        try hold(!memory.store.records.slotRecords.isEmpty, "a keychain without a slot")
    }

    /// A command that is refused leaves the slots as they are.
    private static func run(_ command: [UInt8], on memory: MemoryKeychain) throws {
        let before = memory.store.records.slotRecords
        let commands = try DaemonCommands.commands.get()
        var request = Request(caller: Caller(userID: 0, groupID: 0, processID: 1))
        do throws(KeychainFault) {
            _ = try commands.run(command.span.bytes, on: memory.tree, request: &request)
        } catch {
            try hold(
                memory.store.records.slotRecords == before, "slots changed by a command that was refused: \(error)")
        }
    }

    /// Checks that the daemon reads the command that a client writes.
    private static func check(lineOf command: [UInt8]) throws {
        let line = String(decoding: command.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        if let request = SlotRequest(line: line) {
            try hold(SlotRequest(line: request.line) == request, "a change of slots that is another when written")
        }
        if let unlock = UnlockRequest(line: line) {
            try hold(UnlockRequest(line: unlock.line) == unlock, "an unlock that is another when written")
        }
    }

    /// Excludes commands that may take long by design.
    private static func isCheap(_ command: [UInt8]) -> Bool {
        let line = String(decoding: command.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard case .change(_, let cost?, _)? = SlotRequest(line: line) else { return true }
        return !cost.isAllowed || (cost.passes <= 4 && cost.memory <= 1 << 20)
    }

    private static let controlExamples: [[UInt8]] = {
        let secret = frame(1, "correct")
        let keyFile = frame(3, String(repeating: "k", count: 32))
        let lines: [(String, [UInt8])] = [
            ("lock\n", []), ("unlock\n", Array("correct".utf8)), ("unlock --accept-rollback\n", Array("wrong".utf8)),
            ("slot list\n", []), ("slot add\n", secret + keyFile), ("slot verify\n", secret),
            ("slot change 1\n", secret + frame(1, "other")), ("slot change 1 2 16384\n", secret + frame(1, "other")),
            ("slot add\n", secret + frame(2, "0123456789ABCDEFGHJKMNPQRSTVWX")),
            ("slot remove 1 --delete-items\n", secret),
            ("rekey\n", secret), ("check\n", []), ("backup\n", []), ("nonsense", []),
        ]
        let commands = lines.map { line, secret in
            let bytes = Array(line.utf8) + secret
            return [UInt8(truncatingIfNeeded: bytes.count), UInt8(bytes.count >> 8)] + bytes
        }
        return commands + [commands[4] + commands[9] + commands[0] + commands[1]]
    }()

    private static func frame(_ kind: UInt8, _ text: String) -> [UInt8] {
        [kind, UInt8(text.utf8.count), 0, 0, 0] + Array(text.utf8)
    }
}

/// The commands of a daemon that cannot write backups: the directory of its keychain does not exist.
enum DaemonCommands {
    static let commands = Result { () throws -> ControlCommandLine in
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("keychainfs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("login.keychain").path
        let memory = try MemoryKeychain()
        let store = try SQLiteRecordStore.create(at: path) { store throws(KeychainFault) in store }
        let opened = OpenedKeychain(keychain: memory.keychain, store: store, hadDeviceKey: true)
        return ControlCommandLine(
            processID: 1, keychainPath: path, mountPoint: "/mnt", home: "/home",
            snapshots: SnapshotWriter(opened, path: path),
            buffersLocked: { true }, mountID: { 1 },
            automaticLock: { AutomaticLockStatus(LockPolicy(), remaining: nil, connection: nil) })
    }
}
