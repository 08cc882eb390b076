import Foundation
import Synchronization
import Testing

@testable import Keychain
@testable import KeychainStorage

/// What is remembered of containers, whose services have tags that are made of their keys.
@Suite struct ContainerKeyTests {
    private static func key(_ group: String) -> ContainerKey {
        ContainerKey(itemClass: .genericPassword, accessGroup: Array(group.utf8))
    }

    /// A service in a container of group `old`. Returns container and group.
    private func prepare(_ vault: StoredVault) throws -> (container: RowID, group: RowID) {
        let container = try vault.keychain.change { change throws(KeychainError) in
            let container = try change.container(Self.key("old"), file: .sample)
            _ = try change.addDirectory(.service(.generic(service: .string("mail"))), in: container.id, file: .sample)
            return container
        }
        return (container.id, container.parent)
    }

    /// A new service is found under the key of its container, and nowhere else.
    private func expect(_ group: String, of container: RowID, in vault: StoredVault, _ service: String) throws {
        try vault.keychain.change { change throws(KeychainError) in
            let key = Directory.Key.service(.generic(service: .string(service)))
            _ = try change.addDirectory(key, in: container, file: .sample)
        }
        let name = CanonicalName(typed: Array(service.utf8))
        for candidate in ["old", "new"] {
            let found = try vault.keychain.directory(named: name, in: Self.key(candidate))
            #expect((found != nil) == (candidate == group))
        }
        #expect(try vault.isSound)
    }

    @Test("F4, T1: a search beside the renaming of its group leaves no former key behind")
    func readBeside() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        let (container, group) = try prepare(vault)
        let (holds, goOn, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            _ = try? vault.keychain.change { change throws(KeychainError) in
                try change.renameGroup(group, to: Array("new".utf8))
                holds.signal()
                goOn.wait()
            }
            done.signal()
        }
        holds.wait()
        let seen = try vault.store.read { reader throws(KeychainError) in
            try vault.keychain.containerKey(container, readBy: reader)
        }
        #expect(seen == Self.key("old"))
        goOn.signal()
        done.wait()
        try expect("new", of: container, in: vault, "web")
    }

    @Test("F4: a renaming that comes to nothing leaves no key behind that was never committed")
    func undone() throws {
        let scratch = try Scratch()
        let vault = try StoredVault(creating: scratch.keychain)
        defer { vault.close() }
        let (container, group) = try prepare(vault)
        #expect(throws: KeychainError.param) {
            try vault.keychain.change { change throws(KeychainError) in
                try change.renameGroup(group, to: Array("new".utf8))
                _ = try change.addDirectory(
                    .service(.generic(service: .string("never"))), in: container, file: .sample)
                throw .param
            }
        }
        try expect("old", of: container, in: vault, "web")
    }
}
