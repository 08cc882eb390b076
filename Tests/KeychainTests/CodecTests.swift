import SecretCrypto
import Testing

@testable import Keychain

@Suite("metadata as bytes")
struct CodecTests {
    @Test("an item and its metadata are the same", arguments: [Item.sample(), Item.full])
    func items(_ item: Item) throws {
        let plaintext = try MetadataCodec.bytes(of: item)
        #expect(try MetadataCodec.item(plaintext, like: item) == item)
    }

    @Test("a directory and its metadata are the same", arguments: [Directory.web, .mail, .container, .group])
    func directories(_ directory: Directory) throws {
        let plaintext = try DirectoryCodec.bytes(of: directory)
        #expect(try DirectoryCodec.directory(plaintext, like: directory) == directory)
    }

    @Test("T2: text and data of equal bytes stay what they are")
    func kinds() throws {
        var item = Item.sample()
        item.account = .data(Array("alice".utf8))
        #expect(try MetadataCodec.item(MetadataCodec.bytes(of: item), like: item).account == item.account)
        #expect(item != .sample())
    }

    @Test("F9: 64 KiB of attributes fit, a byte more does not")
    func limit() throws {
        var item = Item.sample()
        item.extraAttributes = [[1]: [UInt8](repeating: 7, count: 65535)]
        #expect(try MetadataCodec.item(MetadataCodec.bytes(of: item), like: item) == item)
        item.attributes[.label] = .string("x")
        #expect(throws: KeychainError.attributesTooLarge) { try MetadataCodec.bytes(of: item) }
    }

    @Test("an account that no slab can take is refused")
    func hugeAccount() {
        var item = Item.sample()
        item.account = .data([UInt8](repeating: 7, count: 130 << 10))
        #expect(throws: KeychainError.attributesTooLarge) { try MetadataCodec.bytes(of: item) }
    }

    @Test("what the format cannot hold is refused when it is written, not when it is read")
    func unencodable() {
        var wrongKey = Item.sample()
        wrongKey.attributes[.account] = .string("x")
        var wrongDate = Item.sample()
        wrongDate.creationDate.nanoseconds = 1_000_000_000
        var wrongReference = Item.sample()
        wrongReference.persistentReference = [1]
        var wrongCount = Item.sample()
        wrongCount.secretCount = -1
        var wrongAccount = Item.sample()
        wrongAccount.account = .number(1)
        for item in [wrongKey, wrongDate, wrongReference, wrongCount, wrongAccount] {
            #expect(throws: KeychainError.param) { try MetadataCodec.bytes(of: item) }
        }
    }

    @Test("S4: every changed byte of a plaintext is refused or means another item; none is ignored")
    func strictness() throws {
        let item = Item.full
        let plaintext = try MetadataCodec.bytes(of: item)
        for index in plaintext.indices {
            let changed = plaintext.flipped(index)
            guard let decoded = try? MetadataCodec.item(changed, like: item) else { continue }
            #expect(decoded != item)
            #expect(try MetadataCodec.bytes(of: decoded) == changed)
        }
    }

    @Test("cut or lengthened plaintexts, fields out of order, twice, unknown or missing are refused")
    func malformed() throws {
        let item = Item.sample()
        let plaintext = try MetadataCodec.bytes(of: item)
        for count in 0..<plaintext.count {
            #expect(throws: KeychainError.decode) { try MetadataCodec.item(Array(plaintext[..<count]), like: item) }
        }
        let longer = plaintext + [UInt8](repeating: 0, count: 64)
        #expect(throws: KeychainError.decode) { try MetadataCodec.item(longer, like: item) }
        let fields = try FieldList(padded: plaintext).fields
        var variants = [fields.reversed(), fields + [(9, [])], fields + [(200, [1])], Array(fields.dropFirst())]
        variants.append(fields.flatMap { [$0, $0] })
        for variant in variants {
            var list = FieldList()
            for (tag, value) in variant { list.add(tag, Array(value)) }
            let bytes = try list.paddedBytes()
            #expect(throws: KeychainError.decode) { try MetadataCodec.item(bytes, like: item) }
        }
    }

    @Test("attribute lists are parsed in their one canonical form only")
    func attributeLists() throws {
        let one: [UInt8] = [14, 2, 0, 0, 0, 1, 0x61]
        #expect(try AttributeList.decode(one[...]) == [.label: .string("a")])
        let two: [UInt8] = [15, 1, 0, 0, 0, 1]
        for wrong in [[], one + one, two + one, [1] + one.dropFirst(), [99] + one.dropFirst(), one.dropLast()] {
            #expect(throws: KeychainError.decode) { try AttributeList.decode(Array(wrong)[...]) }
        }
        let name: [UInt8] = [1, 0, 0, 0, 0x61, 0, 0, 0, 0]
        #expect(try AttributeList.decode(extra: name[...]) == [[0x61]: []])
        let earlier: [UInt8] = [1, 0, 0, 0, 0x60, 0, 0, 0, 0]
        for wrong in [[], name + name, name + earlier, Array(name.dropLast())] {
            #expect(throws: KeychainError.decode) { try AttributeList.decode(extra: wrong[...]) }
        }
    }

    @Test("random bytes never trap, and what parses re-encodes to itself", arguments: 0..<4 as Range<UInt64>)
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let item = Item.full
        let directory = Directory.web
        let starts = [
            try MetadataCodec.bytes(of: item),
            try DirectoryCodec.bytes(of: directory),
        ]
        for round in 0..<4000 {
            var bytes = starts[round % 2]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 5 == 0 { bytes = bytes.map { _ in UInt8.random(in: 0...12, using: &random) } }
            if let parsed = try? MetadataCodec.item(bytes, like: item) {
                #expect(try MetadataCodec.bytes(of: parsed) == bytes)
            }
            if let parsed = try? DirectoryCodec.directory(bytes, like: directory) {
                #expect(try DirectoryCodec.bytes(of: parsed) == bytes)
            }
        }
    }
}
