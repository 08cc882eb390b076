import Foundation
import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

/// A keychain on an SQLite file, unlocked, with one service directory.
struct SQLiteKeychainFixture: Sendable {
    let store: SQLiteRecordStore
    let ring: KeyRing
    let keychain: KeychainStore
    let directory: RowID

    /// A reopened store contains the directory already.
    init(creating path: String) throws {
        store = try SQLiteRecordStore.create(at: path) { store throws(KeychainFault) in
            let passphrase = try Self.secret(Array("correct".utf8))
            let device = try Self.secret(Self.device)
            try KeyRing.create(in: store, passphrase: passphrase, cost: .cheap, device: device)
            return store
        }
        (ring, keychain) = try Self.open(store)
        directory = try keychain.change { transaction throws(KeychainFault) in
            let container = try transaction.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            let service = Directory.Key.service(.generic(service: .string("mail")))
            return try transaction.addDirectory(service, in: container.id, file: .sample).id
        }
    }

    init(
        opening path: String, directory: RowID, access: SQLiteRecordStore.Access = .readWrite,
        isExamination: Bool = false
    ) throws {
        store = try SQLiteRecordStore.open(path: path, access: access)
        do {
            (ring, keychain) = try Self.open(store, isExamination: isExamination)
        } catch {
            store.close()
            throw error
        }
        self.directory = directory
    }

    /// Opens the files that a crash would leave at this time.
    init(crashing fixture: SQLiteKeychainFixture, _ path: String, copy: String) throws {
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        try self.init(opening: copy, directory: fixture.directory)
    }

    /// After a lock.
    func unlock() throws {
        try ring.unlock(passphrase: Self.secret(Array("correct".utf8)))
    }

    /// Renews all keys.
    func rekey() throws(KeychainFault) {
        try startRekey()
        try keychain.rekey()
    }

    func startRekey() throws(KeychainFault) {
        try keychain.startRekey { () throws(KeychainFault) in
            try ring.userKey(with: UnlockSecret(passphrase: Self.secret(Array("correct".utf8))))
        }
    }

    private static func open(
        _ store: SQLiteRecordStore, isExamination: Bool = false
    ) throws -> (KeyRing, KeychainStore) {
        let device = try secret(Self.device)
        let ring = try KeyRing(store: store, device: device, isExamination: isExamination)
        let passphrase = try secret(Array("correct".utf8))
        try ring.unlock(passphrase: passphrase)
        return (ring, KeychainStore(store: store, keys: ring, clock: { .sample }))
    }

    private static let device = [UInt8](repeating: 1, count: 32)

    private static func secret(_ bytes: [UInt8]) throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) { return try SecretBytes(copying: bytes.rawSpan) } catch { throw KeychainFault(error) }
    }

    func item(_ account: String, count: Int) throws(KeychainFault) -> Item {
        var item = Item(
            id: try keychain.reserveRowID(), directory: directory, protection: .whenUnlocked, account: .string(account),
            creationDate: .sample, persistentReference: [UInt8](repeating: 7, count: 16), file: .sample)
        item.secretCount = count
        return item
    }

    @discardableResult
    func add(_ account: String, _ contents: [UInt8]) throws(KeychainFault) -> Item {
        let item = try item(account, count: contents.count)
        return try keychain.change { transaction throws(KeychainFault) in
            try transaction.save(item, secret: StoredContents(bytes: contents))
        }
    }

    func contents(_ account: String) throws -> [UInt8]? {
        guard let item = try keychain.item(named: CanonicalName(account: .string(account)), in: directory) else {
            return nil
        }
        return try contents(of: item.id)
    }

    func contents(of row: RowID) throws -> [UInt8]? {
        guard let found = try keychain.itemWithSecret(id: row) else { throw KeychainFault.itemNotFound }
        return try found.secret?.all()
    }

    /// The number of transactions ever committed to the store, from its header.
    var commitNumber: Int64 {
        get throws {
            let record = try store.read { reader throws(KeychainFault) in try reader.store() }
            return Int64(try ring.header(of: record).commit)
        }
    }

    /// Whether every row opens, and the digest matches the rows.
    var isConsistent: Bool { get throws { try keychain.check().isConsistent } }

    func close() { keychain.close() }
}

struct StoredContents: SecretSource {
    let bytes: [UInt8]
    var secretCount: Int { bytes.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let source = bytes.rawSpan
        return try source.readSecret(at: offset, into: &output)
    }
}

extension SealedSecret {
    fileprivate func all() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var output = span.mutableBytes
        _ = try read(at: 0, into: &output)
        return bytes
    }
}

extension KeychainDate {
    static let sample = KeychainDate(seconds: 1_700_000_000)
}

extension PosixAttributes {
    static let sample = PosixAttributes(
        inode: 1, permissions: 0o600, userID: 1, groupID: 1, modificationTime: .sample, accessTime: .sample)
}

/// A caller's step of a transaction.
protocol TransactionStep: Sendable {
    func run(_ transaction: Transaction) throws(KeychainFault)
}

/// Changes by several threads that come while the store is in use.
enum ConcurrentWriters {
    /// Runs steps on separate threads. All wait for the store before the first one, which holds it, continues, so that
    /// they share its transaction. Returns the results.
    static func run(on fixture: SQLiteKeychainFixture, _ parts: [any TransactionStep]) throws -> [KeychainFault?] {
        let gate = try fixture.store.current().gate
        let outcomes = Mutex([KeychainFault?](repeating: nil, count: parts.count))
        let holds = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        for (index, part) in parts.enumerated() {
            done.enter()
            Thread.detachNewThread {
                let error = outcome(on: fixture) { transaction throws(KeychainFault) in
                    if index == 0 {
                        holds.signal()
                        while gate.pendingWriteCount < parts.count - 1 { usleep(100) }
                    }
                    try part.run(transaction)
                }
                outcomes.withLock { $0[index] = error }
                done.leave()
            }
            if index == 0 { holds.wait() }
        }
        done.wait()
        return outcomes.withLock { $0 }
    }

    private static func outcome(
        on fixture: SQLiteKeychainFixture, _ body: (Transaction) throws(KeychainFault) -> Void
    ) -> KeychainFault? {
        do throws(KeychainFault) {
            try fixture.keychain.change(body)
            return nil
        } catch {
            return error
        }
    }
}
