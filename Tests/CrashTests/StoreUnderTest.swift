import Foundation
import KeychainTesting
import TestSupport

@testable import Keychain
@testable import KeychainStorage

/// A keychain in use on a disk that may fail: the place where the steps of a workload happen.
final class StoreUnderTest {
    let disk: FaultDisk
    let deviceState: DeviceStateStub
    private(set) var crashKeychain: CrashKeychain
    /// The secret that opens the keychain now, as far as the workload knows.
    var opener = Opener.passphrase
    /// Generates sizes: another seed gives another workload.
    var generator: SeededGenerator

    init(seed: UInt64) throws {
        let disk = try FaultDisk()
        self.disk = disk
        generator = SeededGenerator(seed: seed)
        deviceState = DeviceStateStub { disk.eventCount }
        try CrashKeychain.create(at: disk.keychain, deviceState)
        crashKeychain = try CrashKeychain(opening: disk.keychain, deviceState)
        try crashKeychain.unlock()
    }

    var keychain: KeychainStore { crashKeychain.keychain }

    /// Closes it in good order and opens it again.
    func reopen() throws {
        crashKeychain.close()
        try openAgain()
    }

    /// Opens the keychain again after a close that may have failed.
    func openAgain() throws {
        crashKeychain = try CrashKeychain(opening: disk.keychain, deviceState)
        try crashKeychain.unlock(opener)
    }

    // MARK: Names

    func change(_ body: (Transaction) throws(KeychainFault) -> Void) throws(KeychainFault) { try keychain.change(body) }

    /// The service directory of that name; made if it is not there.
    func directory(_ name: String, _ transaction: Transaction) throws(KeychainFault) -> Directory {
        let key = ContainerKey(itemClass: .genericPassword)
        let service = ServiceKey.generic(service: .string(name))
        if let found = try transaction.directory(named: CanonicalName(service: service), in: key) { return found }
        let container = try transaction.container(key, file: .sample)
        return try transaction.addDirectory(.service(service), in: container.id, file: .sample)
    }

    func item(_ name: String, in directory: String = "mail", _ transaction: Transaction) throws(KeychainFault) -> Item {
        let place = try self.directory(directory, transaction)
        let found = try transaction.item(named: CanonicalName(account: .string(name)), in: place.id)
        guard let found else { throw .itemNotFound }
        return found
    }

    // MARK: Steps in common

    func add(
        _ name: String, to directory: String = "mail", count: Int?, _ protection: ProtectionClass = .whenUnlocked
    ) throws(KeychainFault) {
        let contents = count.map { Contents($0, of: UInt8(truncatingIfNeeded: generator.next())) }
        try change { (transaction) throws(KeychainFault) in
            try add(name, to: directory, contents, protection, transaction)
        }
    }

    func add(
        _ name: String, to directory: String, _ contents: Contents?, _ protection: ProtectionClass,
        _ transaction: Transaction
    ) throws(KeychainFault) {
        let place = try self.directory(directory, transaction)
        let item = Item(
            id: try keychain.reserveRowID(), directory: place.id, protection: protection, account: .string(name),
            creationDate: .sample, persistentReference: [UInt8](repeating: 7, count: 16), file: .sample)
        if let contents { _ = try transaction.save(item, secret: contents) } else { _ = try transaction.save(item) }
        try transaction.touchDirectory(place.id)
    }

    func overwrite(_ name: String, count: Int) throws(KeychainFault) {
        let contents = Contents(count, of: UInt8(truncatingIfNeeded: generator.next()))
        try change { (transaction) throws(KeychainFault) in
            _ = try transaction.save(try item(name, transaction), secret: contents)
        }
    }

    func edit(_ name: String, _ body: (inout Item) -> Void) throws(KeychainFault) {
        try change { (transaction) throws(KeychainFault) in
            var item = try item(name, transaction)
            body(&item)
            _ = try transaction.save(item)
        }
    }
}
