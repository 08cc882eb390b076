import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

@testable import Keychain

@Suite("item envelopes")
struct EnvelopeTests {
    static let sizes = [0, 1, 63, 64, 65, 65535, 65536, 65537, 200_000]

    private func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    private func ciphertext(_ fixture: KeyRingFixture, _ record: ItemRecord) throws -> [UInt8] {
        try fixture.store.read { (reader) throws(KeychainFault) in try reader.secret(of: record.id) }
    }

    @Test("every class seals and opens metadata and contents", arguments: ProtectionClass.allCases)
    func roundTrip(protection: ProtectionClass) throws {
        let fixture = try KeyRingFixture()
        var item = Item.full
        item.protection = protection
        item.version = 3
        item.secretVersion = 3
        let record = try fixture.add(item, pattern(100))
        item.secretCount = 100
        #expect(try fixture.items.open(record) == item)
        #expect(try fixture.contents(record) == pattern(100))
        #expect((record.alwaysTag != nil) == (protection.availability == .always))
        #expect(record.ephemeral == nil)
    }

    @Test(
        "S2: secrets of any size are returned completely, and their ciphertext has only padded sizes", arguments: sizes)
    func anySize(count: Int) throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(), pattern(count))
        let sealed = try ciphertext(fixture, record)
        #expect(try fixture.contents(record) == pattern(count))
        #expect(sealed.count == Padding.paddedCount(count))
        #expect(record.secretSeals.count == (sealed.count + 65535) / 65536)
        #expect(Set(record.secretSeals.chunks).count == record.secretSeals.count)
        #expect(record.metadata.ciphertext.count % 64 == 0)
        #expect(Padding.paddedCount(record.metadata.ciphertext.count) == record.metadata.ciphertext.count)
    }

    @Test("S2: padding is zeros, never the earlier contents of the slab")
    func padding() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(), pattern(65537))
        let item = try fixture.items.open(record)
        let secret = try fixture.items.secret(of: item, record: record, ciphertext: ciphertext(fixture, record))
        let padded = Padding.paddedCount(65537)
        // A read with space for a complete chunk gets it as it was sealed.
        let complete = try secret.readChunk(at: 0, count: padded)
        #expect(Array(complete[..<65537]) == pattern(65537))
        #expect(complete[65537...].allSatisfy { $0 == 0 } && complete.count == padded)
    }

    @Test("S2: the sizes of a row reveal neither name nor value: similar lengths give equal sizes")
    func hiddenSizes() throws {
        let fixture = try KeyRingFixture()
        let short = try fixture.add(.sample(id: 10, account: "a"), pattern(3))
        let long = try fixture.add(.sample(id: 11, account: "a little longer"), pattern(60))
        #expect(short.metadata.ciphertext.count == long.metadata.ciphertext.count)
        #expect(try ciphertext(fixture, short).count == ciphertext(fixture, long).count)
        #expect(short.tag.count == long.tag.count)
    }

    @Test("an item without contents is not one with empty contents")
    func noContents() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.items.seal(.sample(), keeping: nil)
        let item = try fixture.items.open(record)
        #expect(item.secretCount == nil && record.secretSeals == ChunkSeals())
        #expect(throws: KeychainFault.itemNotFound) {
            try fixture.items.secret(of: item, record: record, ciphertext: [])
        }
        let empty = try fixture.add(.sample(), [])
        #expect(try fixture.items.open(empty).secretCount == 0)
        #expect(try fixture.contents(empty) == [])
    }

    @Test("F3: reads of any place and length give what a plain array gives", arguments: [65, 65536, 200_000])
    func reads(count: Int) throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(), pattern(count))
        let item = try fixture.items.open(record)
        let secret = try fixture.items.secret(of: item, record: record, ciphertext: ciphertext(fixture, record))
        var random = SeededGenerator(seed: UInt64(count))
        var places = (0..<150).map { _ in
            (Int.random(in: 0...count + 10, using: &random), Int.random(in: 0...70_000, using: &random))
        }
        places += [(0, count), (0, count + 100_000), (count, 1), (count + 1, 1), (65535, 2), (65536, 65536), (0, 0)]
        let plain = pattern(count)
        for (offset, length) in places {
            let expected = Array(plain.dropFirst(offset).prefix(length))
            #expect(try secret.bytes(at: offset, count: length) == expected)
        }
        #expect(throws: KeychainFault.param) { try secret.bytes(at: -1, count: 1) }
    }

    @Test("a change of metadata alone leaves the contents as they are")
    func metadataOnly() throws {
        let fixture = try KeyRingFixture()
        for protection in ProtectionClass.allCases {
            let id = 20 + Int64(protection.rawValue)
            let old = try fixture.add(.sample(protection, id: id, account: protection.code), pattern(70_000))
            var item = try fixture.items.open(old)
            item.version = 2
            item.attributes[.label] = .string("new")
            let record = try fixture.items.seal(item, keeping: old)
            #expect(record.secretSeals == old.secretSeals && record.metadata != old.metadata)
            try fixture.store.write { (writer) throws(KeychainFault) in try writer.put(record, secret: nil) }
            #expect(try fixture.items.open(record) == item)
            #expect(try fixture.contents(record) == pattern(70_000))
            for wrong in [-1, 1, 2] {
                var moved = item
                if wrong == -1 { moved.directory = RowID(rawValue: 3) }
                if wrong == 1 { moved.protection = protection == .always ? .whenUnlocked : .always }
                if wrong == 2 { moved.secretCount = 70_000_000 }
                #expect(throws: KeychainFault.param) { try fixture.items.seal(moved, keeping: old) }
            }
            #expect(throws: KeychainFault.param) { try fixture.items.seal(item, keeping: nil) }
        }
    }

    @Test("L3: a new class or directory seals the secret again from the sealed one", arguments: sizes)
    func fromSealed(count: Int) throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.add(.sample(), pattern(count))
        var item = try fixture.items.open(record)
        let secret = try fixture.items.secret(of: item, record: record, ciphertext: ciphertext(fixture, record))
        item.protection = .afterFirstUnlock
        item.directory = RowID(rawValue: 5)
        item.version = 2
        item.secretVersion = 2
        let sealed = try fixture.items.seal(item, secret: secret)
        #expect(try fixture.items.open(sealed.record) == item)
        #expect(try fixture.contents(sealed.record, ciphertext: sealed.secret) == pattern(count))
        #expect(Set(sealed.record.secretSeals.chunks).isDisjoint(with: record.secretSeals.chunks))
    }

    @Test("H1: staged values and locked memory are sealed as they are", arguments: sizes)
    func fromStaged(count: Int) throws {
        let fixture = try KeyRingFixture()
        var staged = SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: 1 << 20)
        try staged.write(pattern(count).rawSpan, at: 0)
        var item = Item.sample()
        item.secretCount = count
        let sealed = try fixture.items.seal(item, secret: staged)
        #expect(try fixture.contents(sealed.record, ciphertext: sealed.secret) == pattern(count))
        guard count <= 65537 else { return }
        let bytes = try SecretBytes(copying: pattern(count).rawSpan)
        let again = try fixture.items.seal(item, secret: bytes)
        #expect(try fixture.contents(again.record, ciphertext: again.secret) == pattern(count))
        item.secretCount = count + 1
        #expect(throws: KeychainFault.param) { try fixture.items.seal(item, secret: bytes).secret }
    }

    @Test("T1: tags: text and data of equal bytes are one item; directory, account and store distinguish them")
    func tags() throws {
        let fixture = try KeyRingFixture()
        let here = RowID(rawValue: 2)
        let tag = try fixture.ring.itemTag(directory: here, account: .string("a"))
        #expect(try fixture.ring.itemTag(directory: here, account: .data([0x61])) == tag)
        #expect(try fixture.ring.itemTag(directory: RowID(rawValue: 3), account: .string("a")) != tag)
        #expect(try fixture.ring.itemTag(directory: here, account: .string("b")) != tag)
        #expect(try fixture.ring.itemTag(directory: here, account: .string("a"), always: true) != tag)
        #expect(try KeyRingFixture().ring.itemTag(directory: here, account: .string("a")) != tag)
        #expect(try fixture.items.seal(.sample(account: "a"), keeping: nil).tag == tag)
    }
}
