import DeviceState
import Foundation
import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain
@testable import KeychainMount

/// The keys of a keychain, derived from its file, its passphrase and the device key, as a daemon derives them. A scan
/// of the daemon's memory searches for them.
struct KeyMaterial {
    /// The keys from the passphrase to the user key: root key, slot keys, user key. They are wiped when an unlock has
    /// ended.
    private(set) var passing: [String: String] = [:]
    /// The class keys by protection class.
    private(set) var classes: [ProtectionClass: [String: String]] = [:]

    /// The keys in hexadecimal, by name. `environment` determines the paths of the keychain and of the device key.
    init(environment: [String: String], passphrase: String) throws {
        let copy = try CopiedHome(of: environment)
        defer { copy.remove() }
        let locations = copy.locations
        let opened = try KeychainPath(path: locations.keychain, locations: locations).open(isReadOnly: true)
        defer { opened.keychain.close() }
        let secret = try SecretBytes(text: passphrase)
        let keys = opened.keychain.keys
        try keys.unlock(passphrase: secret)
        for protection in ProtectionClass.allCases {
            classes[protection] = try Self.hex(keys.currentKeys(for: protection))
        }
        passing = try Self.passing(KeySnapshot(reading: opened.store), secret)
    }

    private static func passing(_ records: KeySnapshot, _ passphrase: borrowing SecretBytes) throws -> [String: String]
    {
        let store = records.store
        let root = try SlotUnlock.root(passphrase: passphrase, store: store)
        let user = try SlotUnlock.userKey(root: root, kind: .passphrase, slots: records.slots, store: store)
        var found = ["slot root": hex(root), "user key": hex(user)]
        for slot in records.slots {
            let secret = try SlotSecret(root: root, store: store.identifier, slot: slot.id)
            found["slot \(slot.id) exchange key"] = hex(secret.pair.secretKey)
            found["slot \(slot.id) MAC key"] = hex(secret.macKey)
            // Of slots with other secrets too: a rotation uses their keys briefly.
            found["slot \(slot.id) recipient"] = hex(try slot.recipient(userKey: user, store: store.identifier).macKey)
        }
        return found
    }

    private static func hex(_ keys: ClassKeys) throws -> [String: String] {
        var parts = [("metadata", keys.metadata), ("secret", keys.secret)]
        if let exchange = keys.exchange { parts.append(("exchange", exchange)) }
        var found: [String: String] = [:]
        for (name, key) in parts { found[name] = try key.use { (key) throws(CryptoError) in hex(key) } }
        return found
    }

    private static func hex(_ key: borrowing SecretBytes) -> String {
        [UInt8](copying: key.bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension KeySnapshot {
    fileprivate init(reading store: some RecordStore) throws {
        self = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
    }
}

/// The keychains and the state of a home directory, copied to files of the user who runs the tests: files of another
/// user are refused.
private struct CopiedHome {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)").path

    init(of environment: [String: String]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for name in ["XDG_DATA_HOME", "XDG_STATE_HOME"] {
            let result = try Command.run(
                ["cp", "-R", "--preserve=mode", try #require(environment[name]), path + "/" + name])
            guard result.code == 0 else { throw CommandError(message: result.output) }
        }
    }

    var locations: DefaultPaths {
        DefaultPaths(environment: [
            "HOME": path, "XDG_DATA_HOME": path + "/XDG_DATA_HOME", "XDG_STATE_HOME": path + "/XDG_STATE_HOME",
        ])
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
