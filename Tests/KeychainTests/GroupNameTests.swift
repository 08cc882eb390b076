import KeychainTesting
import Testing

@testable import Keychain

@Suite("M1: tags contain the row of the parent")
struct GroupNameTests {
    private let fixture: DigestFixture
    private let name = CanonicalName(service: .generic(service: .string("web")))

    init() throws { fixture = try DigestFixture() }

    private func key(_ group: String) -> ContainerKey {
        ContainerKey(itemClass: .genericPassword, accessGroup: Array(group.utf8))
    }

    private func addService(_ group: String) throws -> (service: Directory, group: RowID) {
        try fixture.keychain.change { (change) throws(KeychainFault) in
            let container = try change.container(key(group), file: .sample)
            let service = Directory.Key.service(.generic(service: .string("web")))
            return (try change.addDirectory(service, in: container.id, file: .sample), container.parent)
        }
    }

    @Test("M1: renaming a group changes its row alone, and the group is found by its new name only")
    func oneRow() throws {
        let (service, group) = try addService("old")
        let before = fixture.keyRingFixture.store.records.directoryRecords
        try fixture.keychain.change { (change) throws(KeychainFault) in
            try change.renameGroup(group, to: Array("new".utf8))
        }
        let after = fixture.keyRingFixture.store.records.directoryRecords
        #expect(after.filter { $0.value != before[$0.key] }.map(\.key) == [group])
        #expect(try fixture.keychain.directory(named: name, in: key("new"))?.id == service.id)
        #expect(try fixture.keychain.directory(named: name, in: key("old")) == nil)
        #expect(try fixture.keychain.verifyNow().rows == nil)
    }

    @Test("M1: exchanged groups keep their services")
    func exchanged() throws {
        let (first, second) = (try addService("a"), try addService("b"))
        try fixture.keychain.change { (change) throws(KeychainFault) in
            try change.exchangeGroups(first.group, second.group)
        }
        #expect(try fixture.keychain.directory(named: name, in: key("a"))?.id == second.service.id)
        #expect(try fixture.keychain.directory(named: name, in: key("b"))?.id == first.service.id)
    }

    @Test("R41: a service under another parent's row number is damaged, even if its seal is authentic")
    func otherParent() throws {
        let (service, _) = try addService("team")
        let store = fixture.keyRingFixture.store
        let container = try #require(try fixture.keychain.container(ContainerKey(itemClass: .genericPassword)))
        var moved = service
        moved.parent = container.id
        let envelope = fixture.keychain.directoryEnvelope
        let forged = try envelope.seal(moved, alsoAlways: false)
        #expect(try envelope.open(forged).parent == container.id)
        // With the tag of the position that it had.
        let old = try #require(store.records.directoryRecords[service.id])
        var row = forged
        row.tag = old.tag
        #expect(throws: KeychainFault.decode) { try envelope.open(row) }
        row = old
        row.parent = container.id
        #expect(throws: KeychainFault.decode) { try envelope.open(row) }
    }
}
