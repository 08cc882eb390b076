import KeychainTesting
import Testing

@testable import Keychain

@Suite("directory envelopes")
struct DirectoryEnvelopeTests {
    private let generic = ContainerKey(itemClass: .genericPassword)
    private let internet = ContainerKey(itemClass: .internetPassword)

    private func container(of directory: Directory) -> ContainerKey? {
        switch directory.key {
        case .container, .group: nil
        case .service(let key): key.itemClass == .genericPassword ? generic : internet
        }
    }

    @Test("directories seal and open, from the first unlock on", arguments: [Directory.web, .mail, .container, .group])
    func roundTrip(_ directory: Directory) throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.directories.seal(directory, in: container(of: directory), alsoAlways: false)
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
        let record = try fixture.directories.seal(.web, in: internet, alsoAlways: true)
        #expect(try fixture.directories.open(record) == .web)
        let cold = try KeyRingFixture(copying: fixture.store.records)
        #expect(try cold.directories.open(record) == .web)
        guard case .service(let key) = Directory.web.key else { return }
        #expect(try cold.ring.directoryTag(key, in: internet, always: true) == record.alwaysTag)
        #expect(try fixture.ring.directoryTag(key, in: internet) == record.tag)
    }

    @Test("a service directory needs a container of its class")
    func containers() throws {
        let fixture = try KeyRingFixture()
        #expect(throws: KeychainFault.param) {
            try fixture.directories.seal(.mail, in: nil, alsoAlways: false)
        }
        #expect(throws: KeychainFault.param) {
            try fixture.directories.seal(.mail, in: internet, alsoAlways: false)
        }
    }

    @Test("T1: a tag distinguishes all key attributes, but not text from data, nor a default from an unset attribute")
    func tags() throws {
        let ring = try KeyRingFixture().ring
        func tag(_ change: (inout InternetService) -> Void, in container: ContainerKey? = nil) throws -> [UInt8] {
            var service = InternetService(server: .string("s"))
            change(&service)
            return try ring.directoryTag(.internet(service), in: container ?? internet)
        }
        let plain = try tag { _ in }
        #expect(try tag { $0.server = .data([0x73]) } == plain)
        #expect(try tag { $0.port = 0 } == plain)
        #expect(try tag { $0.path = .string("") } == plain)
        #expect(try tag { $0.protocol = .number(0) } == plain)
        var synchronizable = internet
        synchronizable.isSynchronizable = true
        let others = [
            try tag { $0.server = .string("t") }, try tag { $0.port = 1 }, try tag { $0.protocol = .string("a") },
            try tag { $0.path = .string("a") }, try tag { $0.securityDomain = .string("a") },
            try tag { $0.authenticationType = .string("a") }, try tag { $0.protocol = .number(1) },
            try tag({ _ in }, in: synchronizable),
            try tag({ _ in }, in: ContainerKey(itemClass: .internetPassword, accessGroup: [1])),
            try ring.directoryTag(.generic(service: .string("s")), in: generic), try ring.containerTag(internet),
            try ring.containerTag(generic), try ring.containerTag(synchronizable), plain,
        ]
        #expect(Set(others).count == others.count)
    }

    @Test("S4: no changed byte of a directory's row is taken for a directory")
    func tampering() throws {
        let fixture = try KeyRingFixture()
        let record = try fixture.directories.seal(.mail, in: generic, alsoAlways: true)
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
