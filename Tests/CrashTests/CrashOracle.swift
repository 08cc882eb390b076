import Foundation
import Testing

@testable import Keychain
@testable import KeychainStorage

/// Opens the files after a crash as the next start of the program does, and describes any fault.
struct CrashOracle {
    let expectations: [Expectation]
    let deviceState: DeviceStateStub
    /// Whether the keychain is also written to and opened again.
    let continues: Bool

    /// The first fault, or nil if everything is as expected.
    func fault(of files: (database: [UInt8]?, log: [UInt8]?)) throws -> String? {
        let disk = try FaultDisk()
        guard try Self.write(files, to: disk) else { return "the database is gone" }
        return fault(on: disk)
    }

    static func write(_ files: (database: [UInt8]?, log: [UInt8]?), to disk: FaultDisk) throws -> Bool {
        guard let database = files.database else { return false }
        try Data(database).write(to: URL(fileURLWithPath: disk.keychain))
        if let log = files.log { try Data(log).write(to: URL(fileURLWithPath: disk.keychain + "-wal")) }
        return true
    }

    func fault(on disk: FaultDisk) -> String? {
        do {
            let crashKeychain = try CrashKeychain(opening: disk.keychain, deviceState)
            let found = try expectation(of: crashKeychain)
            guard let found else {
                crashKeychain.close()
                return "no secret opens it"
            }
            let differences = expectations.map { expectation in
                expectation.openers == found.openers
                    ? expectation.snapshot.difference(from: found.snapshot) : "openers \(found.openers)"
            }
            guard expectations.contains(found) else {
                crashKeychain.close()
                return "it is neither old nor new: " + differences.joined(separator: " / ")
            }
            guard try crashKeychain.keychain.check().isConsistent else {
                crashKeychain.close()
                return "check finds a fault"
            }
            if continues { try continueUse(crashKeychain) }
            crashKeychain.close()
            return try continues ? laterFault(disk, found) : debris(disk)
        } catch {
            return "\(error)"
        }
    }

    private func expectation(of crashKeychain: CrashKeychain) throws -> Expectation? {
        for opener in Opener.allCases where try crashKeychain.opens(opener) {
            try crashKeychain.unlock(opener)
            return try Expectation(of: crashKeychain)
        }
        return nil
    }

    private func continueUse(_ crashKeychain: CrashKeychain) throws {
        try crashKeychain.keychain.rekey()
        try crashKeychain.keychain.change { (transaction) throws(KeychainFault) in
            let container = try transaction.container(ContainerKey(itemClass: .genericPassword), file: .sample)
            let key = Directory.Key.service(.generic(service: .string("after the crash")))
            _ = try transaction.addDirectory(key, in: container.id, file: .sample)
        }
    }

    private func laterFault(_ disk: FaultDisk, _ found: Expectation) throws -> String? {
        if let debris = try debris(disk) { return debris }
        let crashKeychain = try CrashKeychain(opening: disk.keychain, deviceState)
        defer { crashKeychain.close() }
        guard let again = try expectation(of: crashKeychain) else { return "no secret opens it the second time" }
        guard again.snapshot.items == found.snapshot.items,
            again.snapshot.directories.count > found.snapshot.directories.count
        else { return "what was written after the crash is not there" }
        return try crashKeychain.keychain.check().isConsistent
            ? nil : "check finds a fault after the crash was overcome"
    }

    private func debris(_ disk: FaultDisk) throws -> String? {
        let names = try FileManager.default.contentsOfDirectory(atPath: disk.path)
        return names == ["login.keychain"] ? nil : "left behind: \(names.sorted())"
    }
}
