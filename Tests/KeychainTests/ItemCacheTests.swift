import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// A value that was read is not read again, and never outlives a change of its row or a lock (S5, H2, L2).
@Suite("Read cache")
struct ItemCacheTests {
    private let store: InMemoryRecordStore
    private let keychain: KeychainStore
    private let item: Item
    private let directory: Directory

    init() throws {
        let fixture = try KeyRingFixture()
        store = fixture.store
        keychain = KeychainStore(store: store, keys: fixture.ring) { .sample }
        let made = try keychain.change { (change) throws(KeychainFault) -> (Directory, Item) in
            let container = try change.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            let service = Directory.Key.service(.generic(service: .string("mail")))
            let directory = try change.addDirectory(service, in: container.id, file: .sample)
            var item = Item.sample(id: 500, directory: directory.id.rawValue)
            item.version = 0
            return (directory, try change.save(item, secret: ArraySource([1, 2, 3])))
        }
        (directory, item) = made
    }

    private func found() throws -> Directory? {
        try keychain.directory(
            named: CanonicalName(service: .generic(service: .string("mail"))),
            in: ContainerKey(itemClass: .genericPassword))
    }

    private func value() throws -> [UInt8]? { try keychain.itemWithSecret(id: item.id)?.secret?.all() }

    @Test("S5: a secret and a directory that are read again cost no look-up")
    func noSecondLookup() throws {
        #expect(try value() == [1, 2, 3])
        #expect(try keychain.directory(id: directory.id)?.key == directory.key)
        #expect(try found()?.id == directory.id)
        // The rows are deleted without notice, so a successful read comes from the cache.
        store.records = InMemoryRecords()
        #expect(try value() == [1, 2, 3])
        #expect(try keychain.directory(id: directory.id)?.key == directory.key)
        #expect(try found()?.id == directory.id)
    }

    @Test("F10: rows that a commit changes are read again")
    func commitIsSeen() throws {
        #expect(try value() == [1, 2, 3])
        _ = try keychain.directory(id: directory.id)
        #expect(try found() != nil)
        let changed = try keychain.change { (change) throws(KeychainFault) in
            var renamed = directory
            renamed.key = .service(.generic(service: .string("post")))
            _ = try change.save(renamed)
            return try change.save(item, secret: ArraySource([4]))
        }
        #expect(try value() == [4])
        #expect(try found() == nil)
        #expect(try keychain.itemWithSecret(id: item.id)?.item.version == changed.version)
        #expect(try keychain.directory(id: directory.id)?.key == .service(.generic(service: .string("post"))))
    }

    private func service(_ name: String, group: [UInt8] = ContainerKey.defaultAccessGroup) throws -> Directory? {
        try keychain.directory(
            named: CanonicalName(service: .generic(service: .string(name))),
            in: ContainerKey(itemClass: .genericPassword, accessGroup: group))
    }

    private func isKept(_ row: RowID) -> Bool { keychain.cache.value(row) { _ in true } != nil }

    private func isKept(directory: RowID) -> Bool { keychain.cache.directory(directory) != nil }

    /// Another item of the directory, read.
    private func otherItem() throws -> Item {
        let other = try keychain.change { (change) throws(KeychainFault) in
            var other = Item.sample(id: 501, directory: directory.id.rawValue)
            (other.version, other.account) = (0, .string("other"))
            return try change.save(other, secret: ArraySource([9]))
        }
        _ = try keychain.itemWithSecret(id: other.id)
        return other
    }

    @Test("F10, S5: a commit invalidates the rows that it has changed, and no others")
    func onlyChangedRows() throws {
        let other = try otherItem()
        func read() throws {
            #expect(try value() != nil)
            #expect(try keychain.itemWithSecret(id: other.id) != nil)
            #expect(try found() != nil)
        }
        try read()
        _ = try keychain.change { (change) throws(KeychainFault) in try change.save(item, secret: ArraySource([4])) }
        #expect(!isKept(item.id) && isKept(other.id) && isKept(directory: directory.id))
        try read()
        try keychain.change { (change) throws(KeychainFault) in try change.touchDirectory(directory.id) }
        #expect(isKept(item.id) && isKept(other.id) && !isKept(directory: directory.id))
        try read()
        try keychain.change { (change) throws(KeychainFault) in try change.deleteItem(other.id) }
        #expect(isKept(item.id) && !isKept(other.id))
        #expect(try keychain.itemWithSecret(id: other.id) == nil)
    }

    @Test("F4: a transaction that fails invalidates nothing")
    func failedTransaction() throws {
        #expect(try value() != nil)
        store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainFault.diskFull) {
            try keychain.change { (change) throws(KeychainFault) in try change.save(item, secret: ArraySource([4])) }
        }
        #expect(isKept(item.id))
        #expect(try value() == [1, 2, 3])
    }

    @Test("F10: after a rename of a group its services are found under its new name only")
    func renamedGroup() throws {
        let (old, new) = (Array("old".utf8), Array("new".utf8))
        let (group, mail) = try keychain.change { (change) throws(KeychainFault) -> (RowID, RowID) in
            let container = try change.container(
                ContainerKey(itemClass: .genericPassword, accessGroup: old), file: .sample)
            let service = Directory.Key.service(.generic(service: .string("mail")))
            return (container.parent, try change.addDirectory(service, in: container.id, file: .sample).id)
        }
        #expect(try service("mail", group: old)?.id == mail && found()?.id == directory.id)
        try keychain.change { (change) throws(KeychainFault) in try change.renameGroup(group, to: new) }
        #expect(isKept(directory: directory.id), "of another group")
        #expect(try service("mail", group: old) == nil)
        #expect(try service("mail", group: new)?.id == mail)
        #expect(try found()?.id == directory.id)
    }

    @Test("F10: a row read under an old tag does not reappear under it after a rename and its reversal")
    func renamedTwice() throws {
        func rename(_ name: String) throws {
            try keychain.change { (change) throws(KeychainFault) in
                var renamed = directory
                renamed.key = .service(.generic(service: .string(name)))
                _ = try change.save(renamed)
            }
        }
        #expect(try service("mail")?.id == directory.id)
        try rename("post")
        // Read by its row: the old tag must not lead to it.
        _ = try keychain.directory(id: directory.id)
        #expect(try service("mail") == nil)
        #expect(try service("post")?.id == directory.id)
        try rename("mail")
        #expect(try service("post") == nil)
        #expect(try service("mail")?.id == directory.id)
    }

    @Test("F10: a value that was being read while any transaction ended is not kept")
    func readDuringTransaction() throws {
        let other = try otherItem()
        let keychain = keychain
        store.duringNextRead {
            _ = try? keychain.change { (change) throws(KeychainFault) in
                try change.save(other, secret: ArraySource([8]))
            }
        }
        #expect(try value() == [1, 2, 3])
        #expect(!isKept(item.id))
        #expect(try value() == [1, 2, 3])
        #expect(isKept(item.id))
    }

    @Test("L5: a change of a slot invalidates no item")
    func slots() throws {
        #expect(try value() != nil)
        let root = try keychain.keys.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
        _ = try keychain.addSlot(UnlockSecret(passphrase: SecretBytes(text: "second")), authorizedBy: root)
        #expect(isKept(item.id))
        #expect(try value() == [1, 2, 3])
    }

    @Test("S4: after a change by another program the cache is empty, and a read in progress is not cached")
    func externalChange() throws {
        #expect(try value() != nil)
        #expect(try found() != nil)
        let endings = keychain.cache.endings
        store.noteExternalChange()
        #expect(!isKept(item.id) && !isKept(directory: directory.id))
        keychain.cache.keep(directory, since: endings) { true }
        #expect(!isKept(directory: directory.id))
    }

    @Test("L2: a lock removes cached rows, and they can be read again after an unlock")
    func lock() throws {
        let before = try keychain.itemWithSecret(id: item.id)?.secret
        keychain.lock()
        #expect(throws: KeychainFault.interactionNotAllowed) { try value() }
        #expect(throws: KeychainFault.interactionNotAllowed) { try before?.all() }
        try keychain.keys.unlock(passphrase: SecretBytes(text: "correct"))
        #expect(try value() == [1, 2, 3])
    }

    @Test("H2: a lock forgets the names of directories")
    func lockForgetsDirectories() throws {
        #expect(try found() != nil)
        keychain.lock()
        store.records = InMemoryRecords()
        #expect(try found() == nil)
        #expect(keychain.cache.directory(directory.id) == nil)
    }

    @Test("S5: long attributes are charged like the secret: the bytes in the cache are bounded")
    func longAttributes() throws {
        let count = 200
        let rows = try (0..<count).map { index in
            try keychain.change { (change) throws(KeychainFault) in
                var item = Item.sample(id: Int64(1000 + index), directory: directory.id.rawValue)
                item.version = 0
                item.account = .string("a\(index)")
                item.extraAttributes = [Array("note".utf8): [UInt8](repeating: 7, count: 60_000)]
                return try change.save(item, secret: ArraySource([1])).id
            }
        }
        for row in rows { _ = try keychain.itemWithSecret(id: row) }
        store.records = InMemoryRecords()
        let kept = try rows.count { try keychain.itemWithSecret(id: $0) != nil }
        #expect((1...2 * ItemCache.valueBytes / 60_000).contains(kept))
    }

    @Test("H2: a lock during the read of a value leaves no part of it in the cache")
    func lockInBetween() throws {
        let endings = keychain.cache.endings
        let read = try #require(try keychain.itemWithSecret(id: item.id))
        let value = ItemCache.Value(item: read.item, secret: read.secret)
        let isAvailable = keychain.keys.isAvailable(_:)
        keychain.lock()
        #expect(keychain.cache.value(item.id) { _ in true } == nil)
        keychain.cache.keep(value, since: endings, isAvailable)
        #expect(keychain.cache.value(item.id) { _ in true } == nil)
        try keychain.keys.unlock(passphrase: SecretBytes(text: "correct"))
        // Read under the former keys: if the cache returned it, it would fail with ENOKEY until the next commit.
        keychain.cache.keep(value, since: endings, isAvailable)
        #expect(try self.value() == [1, 2, 3])
    }
}

@Suite struct TwoGenerationCacheTests {
    @Test("S5: the most recent values stay, and so do those in repeated use among many others; their number is bounded")
    func generations() {
        var values = TwoGenerationCache<Int, Int>(limit: 10, byteLimit: 10)
        for key in 0..<10 { values.keep(-key, bytes: 1, for: key) }
        for key in 10..<1000 {
            values.keep(-key, bytes: 1, for: key)
            #expect(values.value(3) == -3)
            // As many reads as a generation holds have happened since the last read of it.
            #expect(values.value(key - 3) == -(key - 3))
        }
        #expect((0..<1000).count { values.value($0) != nil } <= 20)
        values.keep(7, bytes: 1, for: 3)
        #expect(values.value(3) == 7)
        let count = (0..<1000).count { values.isKept($0) }
        values.remove(999)
        values.remove(999)
        #expect(!values.isKept(999) && (0..<1000).count { values.isKept($0) } == count - 1)
        values.filter { $0 == 7 }
        #expect((0..<1000).filter { values.value($0) != nil } == [3])
    }

    @Test("S5: large values replace others, so that the memory of the cache is bounded")
    func bytes() {
        var values = TwoGenerationCache<Int, Int>(limit: 1000, byteLimit: 100)
        for key in 0..<1000 {
            values.keep(key, bytes: 1 + key % 40, for: key)
            #expect((0...key).reduce(0) { $0 + (values.isKept($1) ? 1 + $1 % 40 : 0) } <= 200)
            // At least the most recent ones, if they fit in one generation.
            #expect(values.isKept(key) && (key == 0 || values.isKept(key - 1)))
        }
        for _ in 0..<1000 { values.keep(0, bytes: 60, for: 7) }
        #expect(values.isKept(999))
        values.keep(1, bytes: 101, for: 7)
        #expect(values.value(7) == nil)
        // Removed values release their space.
        values.filter { _ in false }
        for key in 0..<100 { values.keep(key, bytes: 1, for: key) }
        #expect((0..<100).allSatisfy { values.isKept($0) })
    }
}

extension TwoGenerationCache {
    /// Whether there is a value for `key`; asks a copy, so that it changes nothing.
    fileprivate func isKept(_ key: Key) -> Bool {
        var copy = self
        return copy.value(key) != nil
    }
}

/// Contents from an array.
private struct ArraySource: SecretSource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var secretCount: Int { bytes.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let part = bytes.dropFirst(offset).prefix(output.byteCount)
        for (index, byte) in part.enumerated() { output.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
        return part.count
    }
}
