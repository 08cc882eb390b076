import FileSystemCore
import FileSystemTesting
import Foundation
import Keychain
import KeychainStorage
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import KeychainTree

/// A directory of many items in a real store, which other threads change while it is listed.
@Suite(.serialized) struct LargeDirectoryTests {
    @Test(
        "T6: a listing of a large directory, with entries created, removed and renamed concurrently, repeats and hides none"
    )
    func churn() throws {
        let fixture = try LargeFixture()
        defer { fixture.keychain.close() }
        try fixture.check(PathClient(fixture.tree), "in process")
        // No inode of a listing remains: only the root, the control files, and the directories on the paths of the
        // changes.
        #expect(fixture.tree.table.withLock { $0.count } < 16)
        let session = try WireSession(fixture.tree)
        try fixture.check(PathClient(session.wire, maximumWrite: 65_536), "over libfuse")
        session.stop()
        let mount = try MountedSession(fixture.tree)
        try fixture.check(mount.client, "on a mount")
        #expect(fixture.tree.table.withLock { $0.count } < LargeFixture.count + 20_000)
        mount.stop()
        // The changes during the listings have added items.
        #expect(try fixture.keychain.itemCount() > LargeFixture.count)
    }
}

/// A directory of permanent names, and between them names that are created to be removed or renamed.
struct LargeFixture {
    /// Permanent names. 100,000 take 38 s of one processor.
    static let count = TestLane.isComplete ? 100_000 : 20_000
    private static let directory = "/generic-passwords/many"
    private static let step = 200

    let keychain: KeychainStore
    let tree: KeychainFileSystem
    private let place: TemporaryDirectory
    /// The number of calls of ``check(_:_:)``: each call uses other names.
    private let round = MutexBox(0)

    init() throws {
        place = try TemporaryDirectory()
        let device = try SecretBytes(randomCount: 32)
        let store = try SQLiteRecordStore.create(at: place.path + "/large.keychain") { store throws(KeychainFault) in
            do throws(CryptoError) {
                let passphrase = try SecretBytes(text: "correct horse")
                return Result<SQLiteRecordStore, KeychainFault> { () throws(KeychainFault) in
                    try KeyRing.create(in: store, passphrase: passphrase, cost: .cheap, device: device)
                    return store
                }
            } catch {
                throw KeychainFault.allocate
            }
        }.get()
        let keys = try KeyRing(store: store, device: device)
        try keys.unlock(passphrase: try Fixture.passphrase())
        keychain = KeychainStore(store: store, keys: keys) { KeychainDate(seconds: 1_700_000_000) }
        tree = KeychainFileSystem(
            keychain: keychain, options: TreeOptions(userID: 0, groupID: 0), host: Host(), commands: Commands())
        try fill()
    }

    /// In large transactions, without the tree.
    private func fill() throws {
        try PathClient(tree).mkdir(Self.directory)
        let container = ContainerKey(itemClass: .genericPassword)
        let directory = try #require(
            try keychain.directory(named: CanonicalName(typed: Array("many".utf8)), in: container))
        for start in stride(from: 0, to: Self.count, by: 5_000) {
            try keychain.change { (transaction) throws(KeychainFault) in
                for number in start..<start + 5_000 {
                    try add("p\(number)", to: directory.id, transaction)
                    guard number % Self.step == 0 else { continue }
                    for round in 1...3 {
                        try add("victim\(round)-\(number)", to: directory.id, transaction)
                        try add("from\(round)-\(number)", to: directory.id, transaction)
                    }
                }
            }
        }
    }

    private func add(_ name: String, to directory: RowID, _ transaction: Transaction) throws(KeychainFault) {
        let (row, now) = try (keychain.reserveRowID(), keychain.now())
        let file = PosixAttributes(
            inode: UInt64(row.rawValue), permissions: 0o600, userID: 0, groupID: 0, modificationTime: now,
            accessTime: now)
        _ = try transaction.save(
            Item(
                id: row, directory: directory, protection: .whenUnlocked, account: .string(name), creationDate: now,
                persistentReference: SecureRandom.bytes(16), file: file))
    }

    /// Lists the directory while three others remove, rename and create in it.
    func check(_ client: any FileClient, _ backEnd: String) throws {
        let round = round.withLock { round in
            round += 1
            return round
        }
        let hasEnded = MutexBox(false)
        let done = MutexBox([0, 0, 0])
        let threads = (0..<3).map { kind in
            TestThread.started {
                for number in stride(from: 0, to: Self.count, by: Self.step).reversed() {
                    guard !hasEnded.withLock({ $0 }) else { return }
                    guard (try? change(kind, number, round, client)) != nil else { continue }
                    done.withLock { $0[kind] += 1 }
                }
            }
        }
        let read = try client.readDirectory(Self.directory)
        hasEnded.withLock { $0 = true }
        for thread in threads { #expect(thread.join(), "\(backEnd)") }
        let changes = done.withLock { $0 }
        #expect(changes.allSatisfy { $0 > 0 }, "\(backEnd): nothing was changed meanwhile: \(changes)")
        verify(read, round, backEnd)
    }

    private func change(_ kind: Int, _ number: Int, _ round: Int, _ client: any FileClient) throws {
        let place = Self.directory + "/"
        switch kind {
        case 0: try client.unlink("\(place)victim\(round)-\(number)")
        case 1: try client.rename("\(place)from\(round)-\(number)", "\(place)to\(round)-\(number)")
        default: try client.put("\(place)new\(round)-\(number)", "x")
        }
    }

    private func verify(_ read: DirectoryRead, _ round: Int, _ backEnd: String) {
        #expect(read.error == nil, "\(backEnd)")
        #expect(Set(read.names).count == read.names.count, "\(backEnd): a name is repeated")
        let kept = read.names.filter { $0.hasPrefix("p") }
        #expect(kept.count == Self.count, "\(backEnd): \(kept.count) of \(Self.count) names that nobody touched")
        #expect(kept == (0..<Self.count).map { "p\($0)" }, "\(backEnd): the order is not stable")
        // A renamed entry keeps its position: it is listed once, under its old or its new name.
        let renamed = read.names.filter { $0.hasPrefix("from\(round)-") || $0.hasPrefix("to\(round)-") }
        let numbers = renamed.map { $0.split(separator: "-").last ?? "" }
        #expect(numbers == stride(from: 0, to: Self.count, by: Self.step).map { "\($0)" }, "\(backEnd): renamed")
    }
}
