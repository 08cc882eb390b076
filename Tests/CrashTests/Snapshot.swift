import KeychainTesting
import SecretCrypto

@testable import Keychain

/// The complete contents of a keychain, as a process that has unlocked it sees them.
struct Snapshot: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var item: Item
        var contents: [UInt8]?
    }

    private(set) var directories: [RowID: Directory] = [:]
    private(set) var items: [RowID: Entry] = [:]
    private(set) var slots: [Int64: SlotKind] = [:]

    /// Throws if an item is damaged or not available: here all of them are intact and available.
    init(of keychain: KeychainStore) throws {
        for slot in try keychain.keys.slots() { slots[slot.id] = slot.kind }
        try addDirectories(of: keychain, in: .none)
    }

    private mutating func addDirectories(of keychain: KeychainStore, in parent: RowID) throws {
        for entry in try keychain.directories(in: parent, after: .none, limit: 1000) {
            guard case .available(var directory) = entry else { throw KeychainFault.decode }
            directory.version = 0
            directories[directory.id] = directory
            try addDirectories(of: keychain, in: directory.id)
            try addItems(of: keychain, in: directory.id)
        }
    }

    private mutating func addItems(of keychain: KeychainStore, in directory: RowID) throws {
        for entry in try keychain.items(in: directory, after: .none, limit: 1000) {
            guard case .available(let listed) = entry, let found = try keychain.itemWithSecret(id: listed.id) else {
                throw KeychainFault.decode
            }
            var item = found.item
            // These count sealings, which a rekey changes without a change of the item.
            (item.version, item.secretVersion) = (0, 0)
            items[item.id] = Entry(item: item, contents: try found.secret?.all())
        }
    }

    /// In which it differs from another one, in few words.
    func difference(from other: Snapshot) -> String {
        let all = [items.keys, other.items.keys].reduce(into: Set<RowID>()) { $0.formUnion($1) }
            .union(directories.keys).union(other.directories.keys)
        let differing = all.filter { items[$0] != other.items[$0] || directories[$0] != other.directories[$0] }
        let rows = differing.sorted().map { "\($0.rawValue)" }.joined(separator: " ")
        return "rows \(rows.isEmpty ? "none" : rows); slots \(slots == other.slots ? "the same" : "others")"
    }
}

extension SealedSecret {
    fileprivate func all() throws(KeychainFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var output = span.mutableBytes
        _ = try read(at: 0, into: &output)
        return bytes
    }
}

/// A secret that opens a slot in these tests.
enum Opener: String, CaseIterable, Hashable, Sendable {
    case passphrase, otherPassphrase, keyFile

    /// A new copy of the secret on each call, because its last use wipes it.
    func secret() throws(KeychainFault) -> UnlockSecret {
        let text = String(repeating: rawValue + " ", count: 8)
        let bytes = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(text: text) }
        return self == .keyFile ? try UnlockSecret(keyFile: bytes) : UnlockSecret(passphrase: bytes)
    }
}
