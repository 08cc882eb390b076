import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("rows and keys changed by another program")
struct TamperingTests {
    /// Returns the plaintext of a changed row; nil if it is refused as it should be.
    private func plaintext(_ fixture: KeyRingFixture, _ record: ItemRecord, _ ciphertext: [UInt8]) -> (Item, [UInt8])? {
        do {
            return (try fixture.items.open(record), try fixture.contents(record, ciphertext: ciphertext))
        } catch {
            #expect(error as? KeychainFault == .decode)
            return nil
        }
    }

    private func changedSeals(of record: ItemRecord) throws -> [ItemRecord] {
        var changed: [ItemRecord] = []
        for index in 0..<NonceAndTag.byteCount {
            var copy = record
            copy.metadata.nonceAndTag = try #require(
                NonceAndTag(bytes: record.metadata.nonceAndTag.bytes.flipped(index)))
            changed.append(copy)
        }
        for index in 0..<ChunkSeals.sealCount {
            var copy = record
            copy.secretSeals = try #require(ChunkSeals(bytes: record.secretSeals.bytes.flipped(index)))
            changed.append(copy)
        }
        return changed
    }

    @Test("S4: no changed byte of an item's row or contents gives any plaintext", arguments: ProtectionClass.allCases)
    func items(protection: ProtectionClass) throws {
        let fixture = try KeyRingFixture()
        var item = Item.sample(protection)
        item.secretCount = 80
        let sealed = try fixture.items.seal(item, secret: [UInt8](repeating: 5, count: 80).rawSpan)
        let (record, secret) = (sealed.record, sealed.secret)
        #expect(plaintext(fixture, record, secret)?.0 == item)
        var changed = try changedSeals(of: record)
        for index in record.metadata.ciphertext.indices {
            changed.append(record)
            changed[changed.count - 1].metadata.ciphertext[index] ^= 0x80
        }
        for index in record.tag.indices {
            changed.append(record)
            changed[changed.count - 1].tag[index] ^= 1
        }
        for change: (inout ItemRecord) -> Void in [
            { $0.id = RowID(rawValue: 11) }, { $0.directory = RowID(rawValue: 3) }, { $0.version = 2 },
            { $0.generation = 2 }, { $0.alwaysTag = $0.alwaysTag == nil ? [1] : nil }, { $0.mac = [] },
            { $0.mac = [UInt8](repeating: 0, count: 32) }, { $0.secretSeals = ChunkSeals() },
            { $0.secretSeals.chunks += $0.secretSeals.chunks }, { $0.metadata.ciphertext = [] },
            { $0.protection = $0.protection == .always ? .whenUnlocked : .always },
            {
                $0.ephemeral = [UInt8](repeating: 9, count: 32)
                $0.mac = [UInt8](repeating: 0, count: 32)
            },
        ] {
            changed.append(record)
            change(&changed[changed.count - 1])
        }
        for record in changed { #expect(plaintext(fixture, record, secret) == nil) }
        for index in secret.indices { #expect(plaintext(fixture, record, secret.flipped(index)) == nil) }
        for wrong in [[], Array(secret.dropLast()), secret + secret] {
            #expect(plaintext(fixture, record, wrong) == nil)
        }
    }

    @Test("S2: swapped rows and swapped halves of rows are refused")
    func swapped() throws {
        let fixture = try KeyRingFixture()
        let one = try fixture.items.seal(withContents: .sample(id: 10, account: "a"), [1])
        let two = try fixture.items.seal(withContents: .sample(id: 11, account: "b"), [2])
        var mixed: [(ItemRecord, [UInt8])] = [(one.record, two.secret)]
        for change: (inout ItemRecord, ItemRecord) -> Void in [
            { $0.metadata = $1.metadata }, { $0.secretSeals = $1.secretSeals }, { $0.tag = $1.tag },
        ] {
            var record = one.record
            change(&record, two.record)
            mixed.append((record, one.secret))
        }
        // Whole rows under each other's ids.
        var other = two.record
        other.id = one.record.id
        mixed.append((other, two.secret))
        // Contents with the seals that belong to them, in another row.
        var foreign = one.record
        foreign.secretSeals = two.record.secretSeals
        mixed.append((foreign, two.secret))
        for (record, secret) in mixed { #expect(plaintext(fixture, record, secret) == nil) }
    }

    @Test("S2: metadata of one version with contents of another are refused, both ways")
    func versions() throws {
        let fixture = try KeyRingFixture()
        let old = try fixture.items.seal(withContents: .sample(), [1])
        var item = Item.sample()
        item.version = 2
        item.secretVersion = 2
        let new = try fixture.items.seal(withContents: item, [2])
        for (record, other) in [(new.record, old), (old.record, new)] {
            var mixed = record
            mixed.secretSeals = other.record.secretSeals
            #expect(plaintext(fixture, mixed, other.secret) == nil)
        }
        // An older row whose column says that it is the newest.
        var older = old.record
        older.version = 2
        #expect(plaintext(fixture, older, old.secret) == nil)
    }

    @Test("S2: chunks that are swapped, dropped or repeated are refused")
    func chunks() throws {
        let fixture = try KeyRingFixture()
        let sealed = try fixture.items.seal(
            withContents: .sample(), [UInt8](repeating: 3, count: 196_608))
        #expect(sealed.record.secretSeals.count == 3)
        let size = 65536
        let first = Array(sealed.secret[..<size]), second = Array(sealed.secret[size..<2 * size])
        let third = Array(sealed.secret[(2 * size)...])
        var record = sealed.record
        record.secretSeals.chunks.swapAt(0, 1)
        #expect(plaintext(fixture, record, second + first + third) == nil)
        let seals = sealed.record.secretSeals.chunks
        record.secretSeals.chunks = [seals[0], seals[0], seals[2]]
        #expect(plaintext(fixture, record, first + first + third) == nil)
        // A shorter secret, composed of the first chunks of a longer one.
        var item = Item.sample()
        item.secretCount = 131_072
        var shorter = try fixture.items.seal(item, secret: [UInt8](repeating: 3, count: 131_072).rawSpan).record
        shorter.secretSeals.chunks = Array(seals[..<2])
        #expect(plaintext(fixture, shorter, first + second) == nil)
    }

    /// Every record of keys with every byte changed, one at a time.
    private func changedKeys(of records: InMemoryRecords) throws -> [InMemoryRecords] {
        var all: [InMemoryRecords] = []
        func vary(_ bytes: [UInt8], _ change: (inout InMemoryRecords, [UInt8]) -> Void) {
            for index in bytes.indices {
                all.append(records)
                change(&all[all.count - 1], bytes.flipped(index))
            }
        }
        func vary(_ sealed: Sealed, _ change: (inout InMemoryRecords, Sealed) -> Void) {
            vary(sealed.nonceAndTag.bytes) {
                guard let nonceAndTag = NonceAndTag(bytes: $1) else { return }
                change(&$0, Sealed(nonceAndTag: nonceAndTag, ciphertext: sealed.ciphertext))
            }
            vary(sealed.ciphertext) { change(&$0, Sealed(nonceAndTag: sealed.nonceAndTag, ciphertext: $1)) }
        }
        let store = try #require(records.storeRecord), slot = try #require(records.slotRecords[1])
        vary(store.identifier) { $0.storeRecord?.identifier = $1 }
        vary(store.salt) { $0.storeRecord?.salt = $1 }
        vary(store.masterKeys) { $0.storeRecord?.masterKeys = $1 }
        vary(slot.ephemeral) { $0.slotRecords[1]?.ephemeral = $1 }
        vary(slot.userKey) { $0.slotRecords[1]?.userKey = $1 }
        for index in records.classKeyRecords.indices {
            vary(records.classKeyRecords[index].keys) { $0.classKeyRecords[index].keys = $1 }
        }
        return all
    }

    @Test("S4: no changed byte of a key record gives a wrong key: data sealed by it is refused, the rest stays usable")
    func keys() throws {
        let fixture = try KeyRingFixture()
        var rows: [ItemRecord] = []
        for protection in ProtectionClass.allCases {
            let id = 10 + Int64(protection.rawValue)
            rows.append(try fixture.add(.sample(protection, id: id, account: protection.code), [protection.rawValue]))
        }
        let tag = try fixture.ring.lookupTag(parts: [])
        for changed in try changedKeys(of: fixture.store.records) {
            let copy = try KeyRingFixture(copying: changed)
            do { try copy.unlock() } catch {
                #expect([.authFailed, .decode].contains(error as? KeychainFault))
            }
            var refused = 0
            for record in rows {
                do {
                    #expect(try copy.contents(record) == [record.protection.rawValue])
                } catch {
                    refused += 1
                    #expect([.decode, .interactionNotAllowed].contains(error as? KeychainFault))
                }
            }
            if let found = try? copy.ring.lookupTag(parts: []) { #expect(found == tag) }
            // A class with two wrappings, and the look-up keys, which no contents need, survive the loss of one.
            #expect(refused > 0 || copy.ring.state == .unlocked)
            #expect(copy.ring.state != .unlocked || refused <= 1)
        }
    }

    @Test("S4: public key, kind, parameters and numbers of key records are bound to them")
    func boundColumns() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(), [1])
        let records = fixture.store.records
        for change: (inout InMemoryRecords) -> Void in [
            { $0.slotRecords[1]?.parameters = [1] }, { $0.slotRecords[1]?.kind = .keyFile },
            { $0.slotRecords[1]?.id = 2 }, { $0.slotRecords[1]?.ephemeral = [] },
            { $0.slotRecords[1]?.ephemeral = [UInt8](repeating: 0, count: 32) },
            { $0.slotRecords[1]?.userKeyGeneration = 2 }, { $0.storeRecord?.userKeyGeneration = 2 },
            {
                $0.slotRecords[1]?.userKeyGeneration = 2
                $0.storeRecord?.userKeyGeneration = 2
            },
        ] {
            var changed = records
            change(&changed)
            #expect(throws: KeychainFault.authFailed) { try KeyRingFixture(copying: changed).unlock() }
        }
        let index = try #require(records.classKeyRecords.firstIndex { $0.purpose == .protection(.whenUnlocked) })
        for change: (inout ClassKeyRecord) -> Void in [
            { $0.generation = 2 }, { $0.device = 1 }, { $0.wrapping = .userAndDeviceKey },
            { $0.purpose = .protection(.afterFirstUnlock) }, { $0.generation = 0 }, { $0.keys.ciphertext = [] },
        ] {
            var changed = records
            change(&changed.classKeyRecords[index])
            let copy = try KeyRingFixture(copying: changed)
            try copy.unlock()
            #expect(throws: KeychainFault.decode) { try copy.items.open(record) }
        }
    }
}

extension ItemEnvelope {
    /// Seals with contents in ordinary memory.
    func seal(withContents item: Item, _ contents: [UInt8]) throws -> (record: ItemRecord, secret: [UInt8]) {
        var item = item
        item.secretCount = contents.count
        return try seal(item, secret: contents.rawSpan)
    }
}
