import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("S2: another copy that is written over a store while it is open")
struct OverwrittenStoreTests {
    private let fixture: DigestFixture
    private let old: InMemoryRecords
    private var store: InMemoryRecordStore { fixture.keyRingFixture.store }
    private var keychain: KeychainStore { fixture.keychain }

    init() throws {
        fixture = try DigestFixture()
        try fixture.add("a")
        old = fixture.keyRingFixture.store.records
        try fixture.add("b")
        #expect(try fixture.keychain.verifyNow().isConsistent)
    }

    /// The copies by the names of the tests: an older one; one in which another program has committed as often, or more
    /// often; and one of an older user key.
    private static let copies = ["older", "equal number", "larger number", "older generation"]

    /// Writes a copy over the store.
    private func overwrite(with copy: String) throws {
        switch copy {
        case "older": store.records = old
        case "older generation":
            let records = store.records
            try startRekey()
            store.records = records
        default: store.records = try fork(commits: copy == "equal number" ? 1 : 5)
        }
    }

    private func startRekey() throws {
        let passphrase = try SecretBytes(text: "correct")
        let userKey = try fixture.keyRingFixture.ring.userKey(passphrase: passphrase)
        try keychain.startRekey { () throws(KeychainFault) in
            do throws(CryptoError) { return try userKey.copy() } catch { throw KeychainFault(error) }
        }
    }

    /// The older copy after commits of another program.
    private func fork(commits: Int) throws -> InMemoryRecords {
        let other = try KeyRingFixture(copying: old)
        try other.unlock()
        for _ in 0..<commits { try other.ring.raiseCommit(above: 0) }
        return other.store.records
    }

    @Test("S2: the next write is refused, also before the change was noticed, and changes nothing", arguments: copies)
    func write(copy: String) throws {
        try overwrite(with: copy)
        let found = store.records
        for _ in 0..<2 {
            #expect(throws: KeychainFault.decode) { try fixture.add("c") }
            #expect(throws: KeychainFault.decode) { try keychain.keys.raiseCommit(above: 1000) }
            #expect(store.records.storeRecord == found.storeRecord && store.records.itemRecords == found.itemRecords)
        }
        #expect(try keychain.verifyNow().rows == .anotherCopy)
        #expect(keychain.integrity == .damaged && keychain.isOverwritten)
    }

    @Test("S2: a scan, a check, a backup and a later unlock find it without a write", arguments: copies)
    func withoutWrite(copy: String) throws {
        try overwrite(with: copy)
        #expect(try keychain.check().rowFault == .anotherCopy)
        #expect(keychain.integrity == .damaged && keychain.isOverwritten)
        #expect(try keychain.verifiedIntegrity() == .damaged)
        #expect(throws: KeychainFault.decode) {
            try store.readExclusively { (reader) throws(KeychainFault) in try keychain.keys.verifyLastCommit(reader) }
        }
        keychain.keys.lock()
        #expect(throws: KeychainFault.decode) { try fixture.keyRingFixture.unlock() }
        #expect(keychain.keys.state == .locked)
    }

    @Test("S2: a later unlock alone finds it")
    func unlock() throws {
        keychain.keys.lock()
        store.records = old
        #expect(throws: KeychainFault.decode) { try fixture.keyRingFixture.unlock() }
        #expect(keychain.integrity == .damaged && keychain.isOverwritten)
    }

    @Test("S2: the right copy, written back, does not end it: values of the other one may have been read")
    func writtenBack() throws {
        let right = store.records
        store.records = old
        #expect(throws: KeychainFault.decode) { try fixture.add("c") }
        store.records = right
        #expect(throws: KeychainFault.decode) { try fixture.add("c") }
        #expect(try keychain.verifyNow().rows == .anotherCopy)
        #expect(keychain.integrity == .damaged)
    }

    @Test("S2: writes that fail, rotations of the keys and the same copy are not reported")
    func ownCommits() throws {
        for failure in [KeychainFault.diskFull, .io(10), .decode] {
            store.failNextWrite(with: failure)
            #expect(throws: failure) { try fixture.add("fails") }
            #expect(try keychain.verifyNow().isConsistent)
        }
        try startRekey()
        try keychain.rekey()
        store.records = store.records
        try fixture.add("c")
        keychain.keys.lock()
        try fixture.keyRingFixture.unlock()
        try fixture.add("d")
        #expect(try keychain.check().isConsistent && !keychain.isOverwritten)
    }
}
