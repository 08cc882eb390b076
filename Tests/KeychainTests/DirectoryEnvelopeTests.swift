import KeychainTesting
import Testing

@testable import Keychain

@Suite("directory envelopes")
struct DirectoryEnvelopeTests {
    @Test("directories seal and open, from the first unlock on", arguments: [Directory.web, .mail, .container, .group])
    func roundTrip(_ directory: Directory) throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.directories.seal(directory, alsoAlways: false)
        #expect(record.alwaysTag == nil && record.alwaysName == nil)
        #expect(try fixture.directories.open(record) == directory)
        fixture.ring.lock()
        #expect(try fixture.directories.open(record) == directory)
        let cold = try KeyRingFixture(copying: fixture.store.records)
        #expect(throws: KeychainFault.interactionNotAllowed) { try cold.directories.open(record) }
    }

    @Test("L1: a directory that holds Always items can also be found and read before the first unlock")
    func always() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.directories.seal(.web, alsoAlways: true)
        #expect(try fixture.directories.open(record) == .web)
        let cold = try KeyRingFixture(copying: fixture.store.records)
        #expect(try cold.directories.open(record) == .web)
        let name = DirectoryName(Directory.web.key)
        #expect(try cold.ring.directoryTag(name, in: Directory.web.parent, always: true) == record.alwaysTag)
        #expect(try fixture.ring.directoryTag(name, in: Directory.web.parent) == record.tag)
    }

    @Test("a service directory needs a container of its class")
    func containers() throws {
        let fixture = try DigestFixture()
        let service = Directory.Key.service(.internet(InternetService(server: .string("example.org"))))
        for (parent, fault) in [(RowID.none, KeychainFault.decode), (RowID(rawValue: 7777), .decode)] {
            #expect(throws: fault) {
                try fixture.keychain.change { (change) throws(KeychainFault) in
                    _ = try change.addDirectory(service, in: parent, file: .sample)
                }
            }
        }
        let generic = try #require(try fixture.keychain.container(ContainerKey(itemClass: .genericPassword)))
        #expect(throws: KeychainFault.param) {
            try fixture.keychain.change { (change) throws(KeychainFault) in
                _ = try change.addDirectory(service, in: generic.id, file: .sample)
            }
        }
    }

    @Test("T1: a tag distinguishes all key attributes, but not text from data, nor a default from an unset attribute")
    func tags() throws {
        let ring = try KeyRingFixture().ring
        func tag(_ change: (inout InternetService) -> Void, in parent: RowID = .first) throws -> [UInt8] {
            var service = InternetService(server: .string("s"))
            change(&service)
            return try ring.directoryTag(DirectoryName(.service(.internet(service))), in: parent)
        }
        let plain = try tag { _ in }
        #expect(try tag { $0.server = .data([0x73]) } == plain)
        #expect(try tag { $0.port = 0 } == plain)
        #expect(try tag { $0.path = .string("") } == plain)
        #expect(try tag { $0.protocol = .number(0) } == plain)
        let scopes = ItemClass.allCases.flatMap { [ContainerScope($0), ContainerScope($0, isSynchronizable: true)] }
        let generic = DirectoryName(.service(.generic(service: .string("s"))))
        let group = DirectoryName(.group(Array("s".utf8)))
        let parents = [RowID.none, .first]
        let containers = try parents.flatMap { parent in
            try scopes.map { try ring.directoryTag(.container($0), in: parent) }
        }
        let others =
            [
                try tag { $0.server = .string("t") }, try tag { $0.port = 1 }, try tag { $0.protocol = .string("a") },
                try tag { $0.path = .string("a") }, try tag { $0.securityDomain = .string("a") },
                try tag { $0.authenticationType = .string("a") }, try tag { $0.protocol = .number(1) },
                try tag({ _ in }, in: .none), try ring.directoryTag(generic, in: .first),
                try ring.directoryTag(group, in: .none), plain,
            ] + containers
        #expect(Set(others).count == others.count)
    }

    @Test("S4: no changed byte of a directory's row is taken for a directory")
    func tampering() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.directories.seal(.mail, alsoAlways: true)
        let cold = try KeyRingFixture(copying: fixture.store.records)
        var warm: [DirectoryRecord] = []
        var before: [DirectoryRecord] = []
        for index in record.name.ciphertext.indices {
            warm.append(record)
            warm[warm.count - 1].name.ciphertext[index] ^= 1
            before.append(record)
            before[before.count - 1].alwaysName?.ciphertext[index] ^= 1
        }
        for index in record.tag.indices {
            warm.append(record)
            warm[warm.count - 1].tag[index] ^= 1
            before.append(record)
            before[before.count - 1].alwaysTag?[index] ^= 1
        }
        for change: (inout DirectoryRecord) -> Void in [
            { $0.id = RowID(rawValue: 3) }, { $0.parent = RowID(rawValue: 3) }, { $0.version = 2 },
            { ($0.name, $0.alwaysName) = ($0.alwaysName ?? $0.name, $0.name) },
            { $0.alwaysTag = nil },
            { $0.alwaysName = nil },
        ] {
            var changed = record
            change(&changed)
            warm.append(changed)
            before.append(changed)
        }
        for changed in warm { #expect(throws: KeychainFault.decode) { try fixture.directories.open(changed) } }
        for changed in before { #expect(throws: KeychainFault.decode) { try cold.directories.open(changed) } }
    }
}
