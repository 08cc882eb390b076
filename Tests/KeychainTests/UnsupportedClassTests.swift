import KeychainTesting
import SecItemTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M3, A6: rows of item classes that this program does not support")
struct UnsupportedClassTests {
    private let fixture: DigestFixture
    /// The items of the three classes, in containers with those of the default group, and one in a group.
    private let items: [StoredItemClass: Item]
    private let group: RowID
    private var keychain: KeychainStore { fixture.keychain }
    private var store: InMemoryRecordStore { fixture.keyRingFixture.store }

    private static let classes: [StoredItemClass] = [.certificate, .key, .template]

    init() throws {
        fixture = try DigestFixture()
        let keychain = fixture.keychain
        var items: [StoredItemClass: Item] = [:]
        for (number, itemClass) in Self.classes.enumerated() {
            var item = try fixture.item("name", itemClass == .certificate ? .always : .whenUnlockedUnlessOpen)
            item.directory = try keychain.addContainer(itemClass, file: .sample)
            item.persistentReference = [UInt8](repeating: UInt8(number), count: 16)
            if itemClass != .template { item.becomeKey(itemClass) }
            items[itemClass] = try keychain.add(item, contents: [1, 2, 3])
        }
        group = try keychain.change { (transaction) throws(KeychainFault) in
            try transaction.group(Array("team".utf8), file: .sample).id
        }
        _ = try keychain.addContainer(.key, in: group, file: .sample)
        self.items = items
    }

    private func expect(
        _ keychain: KeychainStore, except: Set<StoredItemClass> = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (itemClass, item) in items where !except.contains(itemClass) {
            let found = try #require(try keychain.itemWithSecret(id: item.id), sourceLocation: sourceLocation)
            #expect(found.item == item, sourceLocation: sourceLocation)
            #expect(try found.secret?.all() == [1, 2, 3], sourceLocation: sourceLocation)
        }
        let report = try keychain.check()
        #expect(report.isConsistent, "\(report)", sourceLocation: sourceLocation)
    }

    @Test("They are intact and counted; no query and no directory of a supported class shows them")
    func hidden() throws {
        try expect(keychain)
        #expect(try keychain.itemCount() == 3)
        let client = EngineClient(engine: QueryEngine(keychain: keychain))
        let all: [String: PlainValue] = [kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]
        for query in [[String: PlainValue].anyGeneric, .anyInternet] {
            #expect(client.copyMatching(query.with(all)).status == errSecItemNotFound)
            for item in items.values {
                let account = query.with(all).with([kSecAttrAccount: "name"])
                #expect(client.copyMatching(account).status == errSecItemNotFound)
                let reference = PersistentReference(.genericPassword, item.persistentReference).bytes
                #expect(client.copyMatching([kSecValuePersistentRef: .data(reference)]).status == errSecItemNotFound)
                #expect(client.delete(query) == errSecItemNotFound)
            }
        }
        let container = try #require(try keychain.container(ContainerKey(itemClass: .genericPassword)))
        #expect(try keychain.directories(in: container.id, after: .none, limit: 9).count == 1)
    }

    @Test("An unlock reseals items that were added while locked, with fields and attributes unchanged")
    func lockedItem() throws {
        var item = try fixture.item("locked", .whenUnlockedUnlessOpen)
        item.directory = try #require(items[.key]).directory
        item.becomeKey(.key, publicKey: 2)
        keychain.lock()
        let saved = try keychain.add(item, contents: [1, 2, 3])
        try fixture.keyRingFixture.unlock()
        #expect(try keychain.change { (transaction) throws(KeychainFault) in try transaction.rewrap(saved.id) })
        let found = try #require(try keychain.item(id: saved.id))
        #expect(found.keyFields == item.keyFields && found.laterAttributes == item.laterAttributes)
        try expect(keychain)
    }

    @Test("A rekey reseals them, a backup copies them")
    func copied() throws {
        let safe = try RekeyFixture(store.records)
        try safe.start()
        try safe.keychain.rekey()
        try safe.expectRekeyed()
        try expect(safe.keychain)
        #expect(safe.store.records.itemKeys == store.records.itemKeys)
        let copy = InMemoryRecordStore(store.records)
        let contents = try copy.write { (writer) throws(KeychainFault) in try keychain.prepareBackup(writer) }
        #expect(contents.items == 3 && copy.records.itemKeys.count == 4)
        let opened = try KeyRingFixture(copying: copy.records, commitsKeys: false)
        try opened.unlock()
        try expect(KeychainStore(store: opened.store, keys: opened.ring) { .sample })
    }

    @Test(
        "The default class of the keychain stays that of supported classes; a group that contains items is not removed")
    func leftAlone() throws {
        let containers = store.records.directoryRecords.filter { $0.value.parent == group }
        try keychain.change { (transaction) throws(KeychainFault) in
            try transaction.setDefault(.afterFirstUnlock, file: .sample)
        }
        #expect(store.records.directoryRecords.filter { $0.value.parent == group } == containers)
        var item = try fixture.item("name")
        item.directory = try #require(containers.keys.first)
        try keychain.add(item, contents: [1])
        #expect(throws: KeychainFault.directoryNotEmpty) {
            try keychain.change { (transaction) throws(KeychainFault) in try transaction.deleteGroup(group) }
        }
    }

    @Test(
        "A repair copies them; a lost container gets a new place, and wrong lookup tags are computed again",
        arguments: [(StoredItemClass.certificate, "certificates"), (.key, "keys")])
    func repaired(lost itemClass: StoredItemClass, folder: String) throws {
        let (certificate, lost) = (try #require(items[.certificate]), try #require(items[itemClass]))
        let tags = store.records.itemKeys
        var records = store.records
        records.deleteDirectory(lost.directory)
        records.itemKeys[.init(item: certificate.id, kind: 1)] = [UInt8](repeating: 0, count: 16)
        records.itemKeys[.init(item: RowID(rawValue: 9999), kind: 1)] = [UInt8](repeating: 0, count: 16)
        let damaged = InMemoryRecordStore(records)
        let keys = try KeyRing(store: damaged, device: KeyRingFixture.device(), isExamination: true)
        let root = try keys.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
        try keys.unlock(root: root)
        let repair = KeychainRepair(of: damaged, keys: keys)
        let findings = try repair.findings(file: .sample, now: .sample)
        #expect(findings.wrongItemKeys == 2 && findings.damagedItems.isEmpty)
        #expect(findings.displacedDirectories == [lost.directory])
        #expect(findings.path(of: lost.directory) == "access-groups/lost+found/\(folder)/")
        let copy = InMemoryRecordStore()
        try repair.write(findings, to: copy)
        try repair.rotateKeys(of: copy, root: root)
        let opened = try KeyRingFixture(copying: copy.records, commitsKeys: false)
        try opened.unlock()
        try expect(KeychainStore(store: opened.store, keys: opened.ring) { .sample })
        #expect(copy.records.itemKeys == tags)
    }

    @Test("R54: a lookup tag that is missing, superfluous, exchanged or not that of the fields damages the item")
    func wrongKeys() throws {
        let (certificate, template) = (try #require(items[.certificate]), try #require(items[.template]))
        let password = try fixture.add("password")
        let good = store.records
        func damaged(_ change: (inout InMemoryRecords) -> Void) throws -> [RowID] {
            store.records = good
            change(&store.records)
            return try keychain.check().damagedItems
        }
        #expect(try damaged { _ in } == [])
        let (first, second) = (
            ItemKeyRecord.Position(item: certificate.id, kind: 1), ItemKeyRecord.Position(item: certificate.id, kind: 2)
        )
        #expect(try damaged { $0.itemKeys[first] = nil } == [certificate.id])
        #expect(try damaged { $0.itemKeys[second]?[3] ^= 1 } == [certificate.id])
        #expect(
            try damaged { ($0.itemKeys[first], $0.itemKeys[second]) = ($0.itemKeys[second], $0.itemKeys[first]) } == [
                certificate.id
            ])
        for item in [template.id, password.id] {
            #expect(try damaged { $0.itemKeys[.init(item: item, kind: 1)] = good.itemKeys[first] } == [item])
        }
        #expect(
            try damaged { $0.itemKeys[.init(item: certificate.id, kind: 3)] = good.itemKeys[first] } == [certificate.id]
        )
    }

    @Test("R54: fields that the item's class does not have, or that are missing, damage the item")
    func wrongFields() throws {
        let certificate = try #require(items[.certificate])
        func isDamaged(_ change: (inout Item) -> Void, in directory: RowID) throws -> Bool {
            var item = try fixture.item("another")
            item.directory = directory
            change(&item)
            let saved = try keychain.add(item, contents: [1])
            let damaged = try keychain.check().damagedItems
            try keychain.change { change throws(KeychainFault) in try change.deleteItem(saved.id) }
            return damaged == [saved.id]
        }
        let keys = try #require(items[.key]).directory
        let templates = try #require(items[.template]).directory
        #expect(try !isDamaged({ _ in }, in: keys))
        #expect(try !isDamaged({ $0.keyFields[.primaryKey] = [] }, in: keys))
        #expect(try !isDamaged({ $0.becomeKey(.key) }, in: keys))
        #expect(try isDamaged({ $0.keyFields[.publicKey] = [UInt8](repeating: 1, count: 20) }, in: keys))
        #expect(try !isDamaged({ _ in }, in: certificate.directory))
        #expect(try !isDamaged({ $0.becomeKey(.certificate) }, in: certificate.directory))
        for field in KeyField.allCases {
            let change: (inout Item) -> Void = { item in
                item.becomeKey(.certificate)
                item.keyFields[field] = nil
            }
            #expect(try isDamaged(change, in: certificate.directory))
        }
        for directory in [fixture.directory, templates] {
            #expect(try isDamaged({ $0.becomeKey(.key) }, in: directory))
        }
    }

    @Test(
        "R21, R27, R36: fields and attributes of certificates and keys are kept unchanged; malformed ones are refused"
    )
    func codec() throws {
        var item = Item.sample()
        item.becomeKey(.certificate)
        let number: [UInt8] = [3, 1] + [UInt8](repeating: 0, count: 7)
        item.laterAttributes = ([35, 36, 39] + (50...65)).map { LaterField(tag: $0, value: number) }
        func decoded(_ item: Item) throws -> Item {
            let plaintext = try MetadataCodec.encode(item)
            return try MetadataCodec.decode(
                plaintext.bytes, id: item.id, directory: item.directory, version: item.version,
                protection: item.protection)
        }
        #expect(try decoded(item) == item)
        for tag: UInt8 in [34, 37, 38, 40, 41, 49, 66, 95, 127] {
            var wrong = item
            wrong.laterAttributes = [LaterField(tag: tag, value: number)]
            #expect(throws: KeychainFault.decode, "attribute \(tag)") { try decoded(wrong) }
        }
        for value in [[9, 0], [], [3, 1]] as [[UInt8]] {
            var wrong = item
            wrong.laterAttributes = [LaterField(tag: 50, value: value)]
            #expect(throws: KeychainFault.decode) { try decoded(wrong) }
        }
        for list in [[40, 9, 0, 0, 0] + number, [50, 9, 0, 0, 0] + number, [41, 9, 0, 0], [41, 1, 0, 0, 0, 9]]
            as [[UInt8]]
        {
            var wrong = item
            wrong.keyFields[.primaryKey] = list
            #expect(throws: KeychainFault.param, "\(list)") { _ = try MetadataCodec.encode(wrong).count }
        }
        for (field, count) in [(KeyField.publicKey, 19), (.publicKey, 21), (.publicKey, 0)] {
            var wrong = item
            wrong.keyFields[field] = [UInt8](repeating: 1, count: count)
            #expect(throws: KeychainFault.param) { _ = try MetadataCodec.encode(wrong).count }
        }
    }

    @Test("R26: containers of the classes 3, 4 and 16 and the mark of a namesake are kept; others are refused")
    func directoryCodec() throws {
        func decoded(_ directory: Directory) throws -> Directory {
            let plaintext = try DirectoryCodec.encode(directory)
            return try DirectoryCodec.decode(
                plaintext.bytes, id: directory.id, parent: directory.parent, version: directory.version)
        }
        for itemClass in Self.classes {
            for isSynchronizable in [false, true] {
                let scope = try #require(UnsupportedScope(itemClass, isSynchronizable: isSynchronizable))
                let directory = Directory.sample(.unsupported(scope))
                #expect(try decoded(directory) == directory)
            }
        }
        #expect(UnsupportedScope(.genericPassword) == nil)
        var marked = Directory.mail
        marked.hasNamesake = true
        #expect(try decoded(marked) == marked)
        for bytes in [[0, 0], [5, 0], [15, 0], [17, 0], [3, 2], [3], [3, 0, 0]] as [[UInt8]] {
            var fields = FieldList()
            fields.add(1, bytes)
            for (tag, value) in try FieldList.directory(.container) where tag > 8 { fields.add(tag, value) }
            let plaintext = try PaddedPlaintext.encode(fields)
            #expect(throws: KeychainFault.decode, "\(bytes)") {
                try DirectoryCodec.decode(plaintext.bytes, id: RowID(rawValue: 2), parent: .none, version: 1)
            }
        }
    }
}

extension FieldList {
    fileprivate static func directory(_ directory: Directory) throws -> [(UInt8, [UInt8])] {
        let plaintext = try DirectoryCodec.encode(directory)
        return try PaddedPlaintext.decode(plaintext.bytes).fields.map { ($0.tag, Array($0.value)) }
    }
}
