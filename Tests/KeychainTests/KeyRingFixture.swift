import KeychainTesting
import SecretCrypto

@testable import Keychain

/// A store in memory, its key ring and envelopes, and short ways to use them.
struct KeyRingFixture {
    let store: InMemoryRecordStore
    let ring: KeyRing

    var items: ItemEnvelope { ItemEnvelope(ring: ring) }
    var directories: DirectoryEnvelope { DirectoryEnvelope(ring: ring) }

    static func device(_ fill: UInt8 = 1) throws -> SecretBytes {
        try SecretBytes(copying: [UInt8](repeating: fill, count: 32).rawSpan)
    }

    /// Creates a new store, unlocked by default.
    init(unlocked: Bool = true) throws {
        store = InMemoryRecordStore()
        let passphrase = try SecretBytes(text: "correct")
        try KeyRing.create(in: store, passphrase: passphrase, cost: .cheap, device: KeyRingFixture.device())
        ring = try KeyRing(store: store, device: KeyRingFixture.device())
        if unlocked { try unlock() }
    }

    /// A copy of a store, opened on a device; still locked.
    ///
    /// - Parameter commitsKeys: Whether the rows of keys become the committed ones, as if a program with the user key had
    ///   changed them. Otherwise an unlock detects changes of them.
    init(
        copying records: InMemoryRecords, device: UInt8 = 1, isReadOnly: Bool = false, commitsKeys: Bool = true
    ) throws {
        store = InMemoryRecordStore(commitsKeys ? records.withCommittedKeys() : records, isReadOnly: isReadOnly)
        ring = try KeyRing(store: store, device: KeyRingFixture.device(device))
    }

    func unlock(_ passphrase: String = "correct") throws {
        try ring.unlock(passphrase: SecretBytes(text: passphrase))
    }

    /// Seals an item with its secret and stores it. Returns the sealed record.
    @discardableResult
    func add(_ item: Item, _ contents: [UInt8]) throws -> ItemRecord {
        var item = item
        item.secretCount = contents.count
        var sealed = try items.seal(item, secret: contents.rawSpan)
        if sealed.secret.count > ItemRecord.longestShortSecret {
            sealed.record.secretRow = RowID(rawValue: item.id.rawValue + 1_000_000)
        }
        try store.write { [sealed] (writer) throws(KeychainFault) in
            try writer.put(sealed.record, secret: sealed.secret)
        }
        return sealed.record
    }

    /// Adds an item as ``add(_:_:)`` does, and adds its row to the digest.
    @discardableResult
    func addCounted(_ item: Item, _ contents: [UInt8]) throws -> ItemRecord {
        var item = item
        item.secretCount = contents.count
        let sealed = try items.seal(item, secret: contents.rawSpan)
        try store.write(by: ring.ledger) { (writer) throws(KeychainFault) in
            try writer.put(sealed.record, secret: sealed.secret)
        }
        return sealed.record
    }

    /// The contents of a row of the store.
    func contents(_ record: ItemRecord) throws -> [UInt8] {
        let ciphertext = try store.read { (reader) throws(KeychainFault) in try reader.secret(of: record.id) }
        return try contents(record, ciphertext: ciphertext)
    }

    func contents(_ record: ItemRecord, ciphertext: [UInt8]) throws -> [UInt8] {
        let item = try items.open(record)
        return try items.secret(of: item, record: record, ciphertext: ciphertext).all()
    }
}

extension InMemoryRecords {
    /// Returns a copy whose header has the sum of its rows of keys. Unchanged if none of the passphrases opens a slot and
    /// the header.
    func withCommittedKeys() -> InMemoryRecords {
        for passphrase in ["correct", "second"] {
            if let committed = try? withCommittedKeys(passphrase) { return committed }
        }
        return self
    }

    private func withCommittedKeys(_ passphrase: String) throws -> InMemoryRecords {
        guard let store = storeRecord else { return self }
        let root = try SlotUnlock.root(passphrase: SecretBytes(text: passphrase), store: store)
        return try withCommittedKeys(
            userKey: SlotUnlock.userKey(
                root: root, kind: .passphrase, slots: slotRecords.values.sorted { $0.id < $1.id }, store: store))
    }

    func withCommittedKeys(userKey: borrowing SecretBytes) throws -> InMemoryRecords {
        guard let store = storeRecord else { return self }
        let keys = try HeaderKeys(
            userKey: userKey, generation: store.userKeyGeneration, store: store.identifier)
        var header = try StoreHeader(opening: store, keys: keys)
        header.sums.keys = try sums(RowDigest(keys)).keys
        var committed = self
        committed.storeRecord?.header = try header.sealed(by: keys, store: store.identifier)
        return committed
    }
}

extension KeyRing {
    func userKey(passphrase: consuming SecretBytes) throws(KeychainFault) -> SecretBytes {
        try userKey(with: UnlockSecret(passphrase: passphrase))
    }
}

extension SealedSecret {
    /// Returns all bytes, from one read.
    func all() throws -> [UInt8] { try bytes(at: 0, count: count) }

    /// Returns the bytes of one read.
    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: count)
        let read = try output.withMutableSpan { try $0.read(self, at: offset) }
        return Array(output.prefix(read))
    }

    /// Returns the complete buffer of a read, including the bytes after the secret.
    func readChunk(at offset: Int, count: Int) throws -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: count)
        _ = try output.withMutableSpan { try $0.read(self, at: offset) }
        return output
    }
}

extension MutableSpan<UInt8> {
    fileprivate mutating func read(_ secret: SealedSecret, at offset: Int) throws(KeychainFault) -> Int {
        var output = mutableBytes
        return try secret.read(at: offset, into: &output)
    }
}

extension [UInt8] {
    fileprivate mutating func withMutableSpan<T>(_ body: (inout MutableSpan<UInt8>) throws -> T) rethrows -> T {
        var span = mutableSpan
        return try body(&span)
    }

    /// Returns the bytes with one bit changed.
    func flipped(_ index: Int) -> [UInt8] {
        var bytes = self
        bytes[index] ^= 1 << UInt8(index % 8)
        return bytes
    }
}
