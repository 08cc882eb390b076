import Foundation
import GRDB
import TestSupport
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("S4: directories whose parent is missing")
struct LostParentTests {
    @Test(
        "S4: while the row of a container or a group is missing, its entries are not taken for absent",
        arguments: [false, true])
    func lostParent(isVerified: Bool) throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.keychain
        let fixture = try SQLiteKeychainFixture(creating: file)
        let mail = fixture.directory
        _ = try fixture.addInternetService("host", group: "team")
        fixture.close()
        for kind in ["a container", "a group"] {
            let copy = scratch.path + "/" + kind
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            let queue = try DatabaseQueue(path: copy)
            let parents = "SELECT parent FROM directory WHERE parent != 0"
            let isGroup = kind == "a group"
            let sql =
                "DELETE FROM directory WHERE parent = 0 AND id IN (\(parents)) AND (id IN (SELECT parent FROM directory WHERE id IN (\(parents)))) = ?"
            try queue.write { db in
                try db.execute(sql: sql, arguments: [isGroup])
                #expect(db.changesCount == 1)
            }
            try queue.close()
            let damaged = try SQLiteKeychainFixture(opening: copy, directory: mail)
            defer { damaged.close() }
            if isVerified { _ = try? damaged.keychain.verifyNow() }
            if isGroup {
                #expect(throws: KeychainFault.decode) { _ = try damaged.addInternetService("host", group: "team") }
                #expect(try damaged.addService("another") != mail)
            } else {
                #expect(throws: KeychainFault.decode) { _ = try damaged.addService("mail") }
                #expect(throws: KeychainFault.decode) { _ = try damaged.addInternetService("host") }
            }
        }
        let intact = try SQLiteKeychainFixture(opening: file, directory: mail)
        defer { intact.close() }
        if isVerified { _ = try intact.keychain.verifyNow() }
        _ = try intact.addInternetService("host")
    }
}
