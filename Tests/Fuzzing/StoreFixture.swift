import FileSystemCore
import FileSystemTesting
import Foundation
import Keychain
import KeychainStorage
import KeychainTree
import SecretCrypto

/// The fixture of format 2 and its expected contents, read once: each input opens a copy.
final class StoreFixture: Sendable {
    static let pageSize = 4096
    static let loaded = Result { try StoreFixture() }

    let bytes: [UInt8]
    private let deviceKey: [UInt8]
    private let root: SlotRootKey
    /// The values of the items by path.
    private let contents: [String: [UInt8]]

    private static func file(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../StoreFormat/fixtures/format-2").standardizedFileURL
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }

    private init() throws {
        bytes = try Self.file("login.keychain")
        let deviceKey = try Self.file("device-1.key")
        self.deviceKey = deviceKey
        var passphrase = try Self.file("passphrase")
        if passphrase.last == UInt8(ascii: "\n") { passphrase.removeLast() }
        let typed = passphrase
        var root: SlotRootKey?
        var contents: [String: [UInt8]] = [:]
        try Self.withCopy(bytes) { path in
            let store = try SQLiteRecordStore.open(path: path)
            let keys = try KeyRing(store: store, device: Self.secret(deviceKey))
            let found = try keys.root(of: UnlockSecret(passphrase: Self.secret(typed)))
            try keys.unlock(root: found)
            let keychain = KeychainStore(store: store, keys: keys) { .example }
            contents = try Self.contents(of: Self.client(keychain))
            keychain.close()
            root = consume found
        }
        guard let root = root.take(), contents.count > 10 else { throw Finding("the fixture does not open") }
        self.root = root
        self.contents = contents
    }

    private static func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

    func open(_ path: String) throws -> KeychainStore {
        let store = try SQLiteRecordStore.open(path: path)
        do {
            let keys = try KeyRing(store: store, device: Self.secret(deviceKey))
            try keys.unlock(root: root)
            return KeychainStore(store: store, keys: keys) { .example }
        } catch {
            store.close()
            throw error
        }
    }

    /// Throws for a value that was never written; returns the number of items that cannot be read.
    func differences(_ keychain: KeychainStore) throws -> Int {
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

    func withCopy(_ bytes: [UInt8], log: [UInt8]? = nil, _ body: (String) throws -> Void) throws {
        try Self.withCopy(bytes) { path in
            if let log { try Data(log).write(to: URL(fileURLWithPath: path + "-wal")) }
            try body(path)
        }
    }

    private static func withCopy(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("keychainfs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("login.keychain")
        try Data(bytes).write(to: file)
        try body(file.path)
    }

    static func client(_ keychain: KeychainStore) -> PathClient {
        PathClient(
            KeychainFileSystem(
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
