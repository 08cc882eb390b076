import Foundation
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

/// The cache of containers, whose keys determine the tags of their services.
@Suite struct ContainerKeyTests {
    private static func key(_ group: String) -> ContainerKey {
        ContainerKey(itemClass: .genericPassword, accessGroup: Array(group.utf8))
    }

    /// A service in a container of group `old`. Returns container and group.
    private func prepare(_ fixture: SQLiteKeychainFixture) throws -> (container: RowID, group: RowID) {
        let container = try fixture.keychain.change { change throws(KeychainFault) in
            let container = try change.container(Self.key("old"), file: .sample)
            _ = try change.addDirectory(.service(.generic(service: .string("mail"))), in: container.id, file: .sample)
            return container
        }
        return (container.id, container.parent)
    }

    /// A new service is found under the key of its container, and nowhere else.
    private func expect(_ group: String, of container: RowID, in fixture: SQLiteKeychainFixture, _ service: String)
        throws
    {
        try fixture.keychain.change { change throws(KeychainFault) in
            let key = Directory.Key.service(.generic(service: .string(service)))
            _ = try change.addDirectory(key, in: container, file: .sample)
        }
        let name = CanonicalName(typed: Array(service.utf8))
        for candidate in ["old", "new"] {
            let found = try fixture.keychain.directory(named: name, in: Self.key(candidate))
            #expect((found != nil) == (candidate == group))
        }
        #expect(try fixture.isConsistent)
    }

    @Test("F4, T1: a search concurrent with the renaming of its group leaves no former key in the cache")
    func readDuringWrite() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let (container, group) = try prepare(fixture)
        let (holds, goOn, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            _ = try? fixture.keychain.change { change throws(KeychainFault) in
                try change.renameGroup(group, to: Array("new".utf8))
                holds.signal()
                goOn.wait()
            }
            done.signal()
        }
        holds.wait()
        let seen = try fixture.store.read { reader throws(KeychainFault) in
            try fixture.keychain.containerKey(container, readBy: reader)
        }
        #expect(seen == Self.key("old"))
        goOn.signal()
        done.wait()
        try expect("new", of: container, in: fixture, "web")
    }

    @Test("F4: a failed renaming leaves no uncommitted key in the cache")
    func undone() throws {
        let scratch = try TemporaryDirectory()
        let fixture = try SQLiteKeychainFixture(creating: scratch.keychain)
        defer { fixture.close() }
        let (container, group) = try prepare(fixture)
        #expect(throws: KeychainFault.param) {
            try fixture.keychain.change { change throws(KeychainFault) in
                try change.renameGroup(group, to: Array("new".utf8))
                _ = try change.addDirectory(
                    .service(.generic(service: .string("never"))), in: container, file: .sample)
                throw .param
            }
        }
        try expect("old", of: container, in: fixture, "web")
    }
}
