import Foundation
import KeychainTesting
import TestSupport

@testable import Keychain
@testable import KeychainStorage

/// A keychain in use on a disk that may fail: the place where the steps of a workload happen.
final class World {
    let disk: FaultDisk
    let notebook: Notebook
    private(set) var safe: Safe
    /// Which secret opens it at the moment, as far as the workload knows.
    var opener = Opener.passphrase
    /// Of sizes: another seed is another workload.
    var generator: SeededGenerator

    init(seed: UInt64) throws {
        let disk = try FaultDisk()
        self.disk = disk
        generator = SeededGenerator(seed: seed)
        notebook = Notebook { disk.eventCount }
        try Safe.create(at: disk.keychain)
        safe = try Safe(opening: disk.keychain, notebook)
        try safe.unlock()
    }

    var keychain: Keychain { safe.keychain }

    /// Closes it in good order and opens it again.
    func reopen() throws {
        safe.close()
        try openAgain()
    }

    /// What is done after a close that may have gone wrong.
    func openAgain() throws {
        safe = try Safe(opening: disk.keychain, notebook)
        try safe.unlock(opener)
    }

    // MARK: Names

    func change(_ body: (Change) throws(KeychainError) -> Void) throws(KeychainError) { try keychain.change(body) }

    /// The service directory of that name; made if it is not there.
    func directory(_ name: String, _ change: Change) throws(KeychainError) -> Directory {
        let key = ContainerKey(itemClass: .genericPassword)
        let service = ServiceKey.generic(service: .string(name))
        if let found = try change.directory(named: CanonicalName(service: service), in: key) { return found }
        let container = try change.container(key, file: .sample)
        return try change.addDirectory(.service(service), in: container.id, file: .sample)
    }

    func item(_ name: String, in directory: String = "mail", _ change: Change) throws(KeychainError) -> Item {
        let place = try self.directory(directory, change)
        let found = try change.item(named: CanonicalName(account: .string(name)), in: place.id)
        guard let found else { throw .itemNotFound }
        return found
    }

    // MARK: Steps in common

    func add(
        _ name: String, to directory: String = "mail", count: Int?, _ protection: Protection = .whenUnlocked
    ) throws(KeychainError) {
        let contents = count.map { Contents($0, of: UInt8(truncatingIfNeeded: generator.next())) }
        try change { (change) throws(KeychainError) in
            try add(name, to: directory, contents, protection, change)
        }
    }

    func add(
        _ name: String, to directory: String, _ contents: Contents?, _ protection: Protection, _ change: Change
    ) throws(KeychainError) {
        let place = try self.directory(directory, change)
        let item = Item(
            id: keychain.reserveRowID(), directory: place.id, protection: protection, account: .string(name),
            creationDate: .sample, persistentReference: [UInt8](repeating: 7, count: 16), file: .sample)
        if let contents { _ = try change.save(item, secret: contents) } else { _ = try change.save(item) }
        try change.touchDirectory(place.id)
    }

    func overwrite(_ name: String, count: Int) throws(KeychainError) {
        let contents = Contents(count, of: UInt8(truncatingIfNeeded: generator.next()))
        try change { (change) throws(KeychainError) in
            _ = try change.save(try item(name, change), secret: contents)
        }
    }

    func edit(_ name: String, _ body: (inout Item) -> Void) throws(KeychainError) {
        try change { (change) throws(KeychainError) in
            var item = try item(name, change)
            body(&item)
            _ = try change.save(item)
        }
    }
}
