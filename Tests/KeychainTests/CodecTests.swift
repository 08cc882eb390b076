import KeychainTesting
import SecretCrypto
import TestSupport
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

    @Test("T2: text and data of equal bytes keep their types")
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
        #expect(throws: KeychainFault.attributesTooLarge) { try MetadataCodec.bytes(of: item) }
    }

    @Test("an account that no slab can take is refused")
    func hugeAccount() {
        var item = Item.sample()
        item.account = .data([UInt8](repeating: 7, count: 130 << 10))
        #expect(throws: KeychainFault.attributesTooLarge) { try MetadataCodec.bytes(of: item) }
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
        var wrongText = Item.sample()
        wrongText.attributes[.label] = .text([0xFF])
        var wrongMode = Item.sample()
        wrongMode.file.permissions = 0o10000
        var wrongVersion = Item.sample()
        wrongVersion.secretVersion = wrongVersion.version + 1
        var wrongFlags = Item.sample()
        wrongFlags.attributes[.accessControl] = .number(0)
        var wrongName = Item.sample()
        wrongName.extraAttributes[[]] = [1]
        let contents = [wrongKey, wrongDate, wrongReference, wrongCount, wrongAccount, wrongText]
        for item in contents + [wrongMode, wrongVersion, wrongFlags, wrongName] {
            #expect(throws: KeychainFault.param) { try MetadataCodec.bytes(of: item) }
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

    @Test("S6: forms that are never written are refused when they are read", arguments: ItemEdit.all)
    func refused(_ edit: ItemEdit) throws {
        let item = Item.full
        var fields = try FieldList(padded: MetadataCodec.bytes(of: item)).fields.map { ($0.tag, Array($0.value)) }
        let index = try #require(fields.firstIndex { $0.0 == edit.tag })
        edit.change(&fields[index].1)
        var list = FieldList()
        for (tag, value) in fields { list.add(tag, value) }
        let bytes = try list.paddedBytes()
        #expect(throws: KeychainFault.decode) { try MetadataCodec.item(bytes, like: item) }
    }

    @Test("S6: directory keys that are not the one form of a key are neither written nor read")
    func unnormalized() throws {
        var port = InternetService(server: .string("a"))
        port.port = 0
        var path = InternetService(server: .string("a"))
        path.path = .string("")
        var number = InternetService(server: .string("a"))
        number.protocol = .string("7")
        let server = InternetService(server: .number(1))
        var keys: [Directory.Key] = [port, path, number, server].map { .service(.internet($0)) }
        keys += [.service(.generic(service: .number(1))), .group(ContainerKey.defaultAccessGroup), .group([0xFF])]
        for key in keys {
            var directory = Directory.web
            directory.key = key
            #expect(throws: KeychainFault.param) { try DirectoryCodec.bytes(of: directory) }
        }
        let zero = try FieldList(padded: DirectoryCodec.bytes(of: .web)).fields.map { field in
            (field.tag, field.tag == 5 ? [UInt8](repeating: 0, count: 8) : Array(field.value))
        }
        var list = FieldList()
        for (tag, value) in zero { list.add(tag, value) }
        let bytes = try list.paddedBytes()
        #expect(throws: KeychainFault.decode) { try DirectoryCodec.directory(bytes, like: .web) }
    }

    @Test("an access control is kept as its flags")
    func accessControl() throws {
        var item = Item.full
        item.attributes[.accessControl] = .number(1 << 4)
        #expect(try MetadataCodec.item(MetadataCodec.bytes(of: item), like: item) == item)
    }

    @Test("cut or lengthened plaintexts, fields out of order, twice, unknown or missing are refused")
    func malformed() throws {
        let item = Item.sample()
        let plaintext = try MetadataCodec.bytes(of: item)
        for count in 0..<plaintext.count {
            #expect(throws: KeychainFault.decode) { try MetadataCodec.item(Array(plaintext[..<count]), like: item) }
        }
        let longer = plaintext + [UInt8](repeating: 0, count: 64)
        #expect(throws: KeychainFault.decode) { try MetadataCodec.item(longer, like: item) }
        let fields = try FieldList(padded: plaintext).fields
        var variants = [fields.reversed(), fields + [(9, [])], fields + [(127, [1])], Array(fields.dropFirst())]
        variants.append(fields.flatMap { [$0, $0] })
        for variant in variants {
            var list = FieldList()
            for (tag, value) in variant { list.add(tag, Array(value)) }
            let bytes = try list.paddedBytes()
            #expect(throws: KeychainFault.decode) { try MetadataCodec.item(bytes, like: item) }
        }
    }

    @Test("attribute lists are parsed in their one canonical form only")
    func attributeLists() throws {
        let one: [UInt8] = [14, 2, 0, 0, 0, 1, 0x61]
        #expect(try AttributeList.decode(one[...]).known == [.label: .string("a")])
        let two: [UInt8] = [15, 1, 0, 0, 0, 1]
        for wrong in [[], one + one, two + one, [1] + one.dropFirst(), [99] + one.dropFirst(), one.dropLast()] {
            #expect(throws: KeychainFault.decode) { try AttributeList.decode(Array(wrong)[...]) }
        }
        let name: [UInt8] = [1, 0, 0, 0, 0x61, 0, 0, 0, 0]
        #expect(try AttributeList.decode(extra: name[...]) == [[0x61]: []])
        let earlier: [UInt8] = [1, 0, 0, 0, 0x60, 0, 0, 0, 0]
        for wrong in [[], name + name, name + earlier, Array(name.dropLast())] {
            #expect(throws: KeychainFault.decode) { try AttributeList.decode(extra: wrong[...]) }
        }
    }

    @Test("random bytes never trap, and parsed bytes re-encode to themselves", arguments: 0..<4 as Range<UInt64>)
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

/// A change of one field of an item's metadata that no encoder makes.
struct ItemEdit: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let tag: UInt8
    let change: @Sendable (inout [UInt8]) -> Void

    static let all = [
        ItemEdit(testDescription: "account that is no UTF-8", tag: 1) { $0 = [1, 0xC3] },
        ItemEdit(testDescription: "account that is a number", tag: 1) { $0 = [3] + [UInt8](littleEndian: Int64(1)) },
        ItemEdit(testDescription: "nanoseconds of a whole second", tag: 2) {
            $0.replaceSubrange(8..<12, with: [UInt8](littleEndian: UInt32(1_000_000_000)))
        },
        ItemEdit(testDescription: "reference of 15 bytes", tag: 4) { $0.removeLast() },
        ItemEdit(testDescription: "mode beyond 07777", tag: 5) { $0[9] |= 0x10 },
        ItemEdit(testDescription: "contents newer than the row", tag: 6) { $0 = [UInt8](littleEndian: Int64.max) },
        ItemEdit(testDescription: "contents of a negative version", tag: 6) { $0 = [UInt8](littleEndian: Int64(-1)) },
        ItemEdit(testDescription: "negative size", tag: 7) { $0 = [UInt8](littleEndian: Int64(-1)) },
        ItemEdit(testDescription: "size beyond 512 MiB", tag: 7) { $0 = [UInt8](littleEndian: Int64(1 << 29 + 1)) },
        ItemEdit(testDescription: "empty list of attributes", tag: 8) { $0 = [] },
        ItemEdit(testDescription: "attribute of the path", tag: 8) { $0 = [1, 1, 0, 0, 0, 1] },
        ItemEdit(testDescription: "access control without flags", tag: 8) {
            $0 = [33, 9, 0, 0, 0, 3] + [UInt8](littleEndian: Int64(0))
        },
        ItemEdit(testDescription: "extra attribute without a name", tag: 9) { $0 = [0, 0, 0, 0, 0, 0, 0, 0] },
    ]
}
