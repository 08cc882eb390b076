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

    private func ciphertext(_ bench: Bench, _ record: ItemRecord) throws -> [UInt8] {
        try bench.store.read { (reader) throws(KeychainError) in try reader.secret(of: record.id) }
    }

    @Test("every class seals and opens metadata and contents", arguments: Protection.allCases)
    func roundTrip(protection: Protection) throws {
        let bench = try Bench()
        var item = Item.full
        item.protection = protection
        item.version = 3
        item.secretVersion = 3
        let record = try bench.add(item, pattern(100))
        item.secretCount = 100
        #expect(try bench.items.open(record) == item)
        #expect(try bench.contents(record) == pattern(100))
        #expect((record.alwaysTag != nil) == (protection.availability == .always))
        #expect(record.ephemeral == nil && record.mac == nil)
    }

    @Test("S2: contents of any size come back whole, and their ciphertext takes padded sizes only", arguments: sizes)
    func anySize(count: Int) throws {
        let bench = try Bench()
        let record = try bench.add(.sample(), pattern(count))
        let sealed = try ciphertext(bench, record)
        #expect(try bench.contents(record) == pattern(count))
        #expect(sealed.count == Padding.paddedCount(count))
        #expect(record.secretSeals.count == (sealed.count + 65535) / 65536)
        #expect(Set(record.secretSeals).count == record.secretSeals.count)
        #expect(record.metadata.ciphertext.count % 64 == 0)
        #expect(Padding.paddedCount(record.metadata.ciphertext.count) == record.metadata.ciphertext.count)
    }

    @Test("S2: padding is zeros, never what lay in the slab before")
    func padding() throws {
        let bench = try Bench()
        let record = try bench.add(.sample(), pattern(65537))
        let item = try bench.items.open(record)
        let secret = try bench.items.secret(of: item, record: record, ciphertext: ciphertext(bench, record))
        let padded = Padding.paddedCount(65537)
        // A read with room for the whole of a chunk gets it as it was sealed.
        let whole = try secret.room(at: 0, count: padded)
        #expect(Array(whole[..<65537]) == pattern(65537))
        #expect(whole[65537...].allSatisfy { $0 == 0 } && whole.count == padded)
    }

    @Test("S2: neither name nor value shows in a row's sizes: close ones give equal sizes")
    func hiddenSizes() throws {
        let bench = try Bench()
        let short = try bench.add(.sample(id: 10, account: "a"), pattern(3))
        let long = try bench.add(.sample(id: 11, account: "a little longer"), pattern(60))
        #expect(short.metadata.ciphertext.count == long.metadata.ciphertext.count)
        #expect(try ciphertext(bench, short).count == ciphertext(bench, long).count)
        #expect(short.tag.count == long.tag.count)
    }

    @Test("an item without contents is not one with empty contents")
    func noContents() throws {
        let bench = try Bench()
        let record = try bench.items.seal(.sample(), keeping: nil)
        let item = try bench.items.open(record)
        #expect(item.secretCount == nil && record.secretSeals.isEmpty)
        #expect(throws: KeychainError.itemNotFound) {
            try bench.items.secret(of: item, record: record, ciphertext: [])
        }
        let empty = try bench.add(.sample(), [])
        #expect(try bench.items.open(empty).secretCount == 0)
        #expect(try bench.contents(empty) == [])
    }

    @Test("F3: reads of any place and length give what a plain array gives", arguments: [65, 65536, 200_000])
    func reads(count: Int) throws {
        let bench = try Bench()
        let record = try bench.add(.sample(), pattern(count))
        let item = try bench.items.open(record)
        let secret = try bench.items.secret(of: item, record: record, ciphertext: ciphertext(bench, record))
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
        #expect(throws: KeychainError.param) { try secret.bytes(at: -1, count: 1) }
    }

    @Test("a change of metadata alone leaves the contents as they are")
    func metadataOnly() throws {
        let bench = try Bench()
        for protection in Protection.allCases {
            let id = 20 + Int64(protection.rawValue)
            let old = try bench.add(.sample(protection, id: id, account: protection.code), pattern(70_000))
            var item = try bench.items.open(old)
            item.version = 2
            item.attributes[.label] = .string("new")
            let record = try bench.items.seal(item, keeping: old)
            #expect(record.secretSeals == old.secretSeals && record.metadata != old.metadata)
            try bench.store.write { (writer) throws(KeychainError) in try writer.put(record, secret: nil) }
            #expect(try bench.items.open(record) == item)
            #expect(try bench.contents(record) == pattern(70_000))
            for wrong in [-1, 1, 2] {
                var moved = item
                if wrong == -1 { moved.directory = RowID(rawValue: 3) }
                if wrong == 1 { moved.protection = protection == .always ? .whenUnlocked : .always }
                if wrong == 2 { moved.secretCount = 70_000_000 }
                #expect(throws: KeychainError.param) { try bench.items.seal(moved, keeping: old) }
            }
            #expect(throws: KeychainError.param) { try bench.items.seal(item, keeping: nil) }
        }
    }

    @Test("L3: another class or directory seals contents anew from the sealed ones", arguments: sizes)
    func fromSealed(count: Int) throws {
        let bench = try Bench()
        let record = try bench.add(.sample(), pattern(count))
        var item = try bench.items.open(record)
        let secret = try bench.items.secret(of: item, record: record, ciphertext: ciphertext(bench, record))
        item.protection = .afterFirstUnlock
        item.directory = RowID(rawValue: 5)
        item.version = 2
        item.secretVersion = 2
        let sealed = try bench.items.seal(item, secret: secret)
        #expect(try bench.items.open(sealed.record) == item)
        #expect(try bench.contents(sealed.record, ciphertext: sealed.secret) == pattern(count))
        #expect(Set(sealed.record.secretSeals).isDisjoint(with: record.secretSeals))
    }

    @Test("H1: staged values and locked memory are sealed as they are", arguments: sizes)
    func fromStaged(count: Int) throws {
        let bench = try Bench()
        var staged = SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: 1 << 20)
        try staged.write(pattern(count).rawSpan, at: 0)
        var item = Item.sample()
        item.secretCount = count
        let sealed = try bench.items.seal(item, secret: staged)
        #expect(try bench.contents(sealed.record, ciphertext: sealed.secret) == pattern(count))
        guard count <= 65537 else { return }
        let bytes = try SecretBytes(copying: pattern(count).rawSpan)
        let again = try bench.items.seal(item, secret: bytes)
        #expect(try bench.contents(again.record, ciphertext: again.secret) == pattern(count))
        item.secretCount = count + 1
        #expect(throws: KeychainError.param) { try bench.items.seal(item, secret: bytes).secret }
    }

    @Test("T1: tags: text and data of equal bytes are one item; directory, account and store tell them apart")
    func tags() throws {
        let bench = try Bench()
        let here = RowID(rawValue: 2)
        let tag = try bench.ring.itemTag(directory: here, account: .string("a"))
        #expect(try bench.ring.itemTag(directory: here, account: .data([0x61])) == tag)
        #expect(try bench.ring.itemTag(directory: RowID(rawValue: 3), account: .string("a")) != tag)
        #expect(try bench.ring.itemTag(directory: here, account: .string("b")) != tag)
        #expect(try bench.ring.itemTag(directory: here, account: .string("a"), always: true) != tag)
        #expect(try Bench().ring.itemTag(directory: here, account: .string("a")) != tag)
        #expect(try bench.items.seal(.sample(account: "a"), keeping: nil).tag == tag)
    }
}
