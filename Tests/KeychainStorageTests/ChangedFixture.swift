import Foundation
import SecretCrypto

@testable import Keychain
@testable import KeychainStorage

/// The fixture after changes of every kind of row, with its expected contents.
struct ChangedFixture {
    let bytes: Data
    let truth: FixtureContents
    let commit: Int64

    /// Two of different `mark` are clones that went their own ways: equal keys, row numbers and versions.
    init(mark: UInt8) throws {
        let fixture = try StoreFixture()
        let complete = try FixtureContents.complete.get()
        let keychain = try fixture.openedForChanges()
        // Rows of unsupported item classes are not changed by this program.
        let directories = complete.directories.filter { complete.directories[$0.value.parent]?.isUnsupported != true }
        for value in complete.items.values {
            guard case .service? = directories[value.item.directory]?.key else { continue }
            try Self.change(value, mark, keychain)
        }
        try keychain.change { change throws(KeychainFault) in
            for var directory in directories.values {
                directory.file.permissions = 0o700 | UInt32(mark)
                _ = try change.save(directory)
            }
        }
        try Self.changeKeys(keychain)
        keychain.close()
        bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        truth = try FixtureContents(fixture)
        commit = try Self.commit(of: fixture)
    }

    private static func change(_ value: FixtureContents.Value, _ mark: UInt8, _ keychain: KeychainStore) throws {
        var (item, added) = (value.item, value.item)
        item.file.permissions = 0o600
        let contents = value.contents.map { Array($0.reversed()) + [mark] }
        item.secretCount = contents?.count
        added.id = try keychain.reserveRowID()
        added.account = .string("added \(mark) after \(value.item.id.rawValue)")
        added.persistentReference = SecureRandom.bytes(16)
        added.version = 0
        added.secretCount = 1
        try keychain.change { change throws(KeychainFault) in
            if let contents {
                _ = try change.save(item, secret: StoredContents(bytes: contents))
            } else {
                _ = try change.save(item)
            }
            if added.id.rawValue.isMultiple(of: 8) {
                _ = try change.save(added, secret: StoredContents(bytes: [mark]))
            }
        }
    }

    /// Another user key, and so other rows of slots, keys and the store.
    private static func changeKeys(_ keychain: KeychainStore) throws {
        let root = try keychain.keys.root(of: UnlockSecret(passphrase: StoreFixture.passphrase()))
        let key = try UnlockSecret(keyFile: SecretBytes(randomCount: 64))
        let slot = try keychain.addSlot(key, authorizedBy: root)
        _ = try keychain.removeSlot(slot.id, authorizedBy: root)
        _ = try keychain.addSlot(UnlockSecret(keyFile: SecretBytes(randomCount: 64)), authorizedBy: root)
    }

    /// Returns the commit number in the header; nil if the header does not open.
    static func commit(of fixture: StoreFixture) throws -> Int64 {
        let keychain = try fixture.opened()
        defer { keychain.store.close() }
        let record = try keychain.store.read { (reader) throws(KeychainFault) in try reader.store() }
        return try Int64(keychain.keys.header(of: record).commit)
    }
}

extension Directory {
    fileprivate var isUnsupported: Bool { if case .unsupported = key { true } else { false } }
}
