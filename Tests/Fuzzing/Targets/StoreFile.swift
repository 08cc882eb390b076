import FileSystemCore
import FileSystemTesting
import Foundation
import Keychain
import KeychainStorage
import KeychainTree
import SecretCrypto

/// S4, S6: a whole store file with pieces of it changed, opened with its keys. An input is a list of changes: the page, the place
/// in it, how many bytes, the bytes.
///
/// What can be read is what was in the file before, or nothing.
extension FuzzTarget {
    static let storeFile = FuzzTarget("store-file", limit: 256, cases: 30, examples: { fileExamples }) { input in
        let fixture = try StoreFixture.loaded.get()
        let bytes = changed(fixture.bytes, input)
        try fixture.withCopy(bytes) { path in
            guard let opened = try? fixture.open(path) else {
                return try hold(bytes != fixture.bytes, "a file that nobody has changed does not open")
            }
            defer { opened.close() }
            let found = try fixture.differences(opened)
            try hold(bytes != fixture.bytes || found == 0, "items that nobody has changed cannot be read")
            let report = try? opened.check()
            try hold(bytes != fixture.bytes || report?.isSound == true, "a fault out of nothing")
        }
    }

    private static func changed(_ file: [UInt8], _ input: [UInt8]) -> [UInt8] {
        var bytes = file
        var reader = InputReader(input)
        while !reader.isAtEnd {
            let page = Int(reader.byte()) % max(1, bytes.count / StoreFixture.pageSize)
            let place = (Int(reader.byte()) | Int(reader.byte()) << 8) % StoreFixture.pageSize
            let start = page * StoreFixture.pageSize + place
            for (offset, byte) in reader.bytes(Int(reader.byte()) % 32).enumerated() where start + offset < bytes.count
            {
                bytes[start + offset] = byte
            }
        }
        return bytes
    }

    private static let fileExamples: [[UInt8]] =
        [[]] + (0..<UInt8(24)).map { [$0, $0 &* 37, $0 % 16, 4, 0, 1, $0, 255] }
}

/// The fixture of format 1 with what it holds, read once: a copy of it is opened for each input.
private final class StoreFixture: Sendable {
    static let pageSize = 4096
    static let loaded = Result { try StoreFixture() }

    let bytes: [UInt8]
    private let deviceKey: [UInt8]
    private let root: SlotRoot
    /// What the file holds, by path.
    private let contents: [String: [UInt8]]

    private static func file(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../StoreFormat/fixtures/format-1").standardizedFileURL
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    private init() throws {
        bytes = try Self.file("login.keychain")
        let deviceKey = try Self.file("device-1.key")
        self.deviceKey = deviceKey
        var passphrase = try Self.file("passphrase")
        if passphrase.last == UInt8(ascii: "\n") { passphrase.removeLast() }
        let typed = passphrase
        var root: SlotRoot?
        var contents: [String: [UInt8]] = [:]
        try Self.withCopy(bytes) { path in
            let store = try SQLiteRecordStore.open(path: path)
            let keys = try KeyRing(store: store, device: Self.secret(deviceKey))
            let found = try keys.root(of: UnlockSecret(passphrase: Self.secret(typed)))
            try keys.unlock(root: found)
            let keychain = try Keychain(store: store, keys: keys) { .example }
            contents = try Self.contents(of: Self.client(keychain))
            keychain.close()
            root = consume found
        }
        guard let root = root.take(), contents.count > 10 else { throw Finding("the fixture does not open") }
        self.root = root
        self.contents = contents
    }

    private static func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

    func open(_ path: String) throws -> Keychain {
        let store = try SQLiteRecordStore.open(path: path)
        do {
            let keys = try KeyRing(store: store, device: Self.secret(deviceKey))
            try keys.unlock(root: root)
            return try Keychain(store: store, keys: keys) { .example }
        } catch {
            store.close()
            throw error
        }
    }

    /// Throws for bytes that nobody has written; counts the items that cannot be read.
    func differences(_ keychain: Keychain) throws -> Int {
        let client = Self.client(keychain)
        var unread = 0
        for (path, bytes) in contents {
            guard let read = try? client.contents(path) else {
                unread += 1
                continue
            }
            try hold(read == bytes, "other bytes than were written")
        }
        return unread
    }

    func withCopy(_ bytes: [UInt8], _ body: (String) throws -> Void) throws { try Self.withCopy(bytes, body) }

    private static func withCopy(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keychainfs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("login.keychain")
        try Data(bytes).write(to: file)
        try body(file.path)
    }

    private static func client(_ keychain: Keychain) -> PathClient {
        PathClient(
            KeychainTree(
                keychain: keychain, options: TreeOptions(userID: 0, groupID: 0), host: QuietHost(),
                commands: NoCommands()))
    }

    /// All files below the root that can be read.
    private static func contents(of client: PathClient) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        var directories = [""]
        while let directory = directories.popLast() {
            for name in try client.readDirectory(directory.isEmpty ? "/" : directory).names {
                let path = directory + "/" + name
                switch try client.stat(path).type {
                case .directory: directories.append(path)
                default: found[path] = try? client.contents(path)
                }
            }
        }
        return found
    }
}
