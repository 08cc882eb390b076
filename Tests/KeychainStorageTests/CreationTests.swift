import Foundation
import Keychain
import Testing

@testable import KeychainStorage

@Suite("creating a keychain")
struct CreationTests {
    @Test("the file is 0600 and its new directories 0700; nothing else stays behind")
    func modes() throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch["a/b/login.keychain"]) { $0 }
        #expect(try scratch.permissions(of: "a") == 0o700)
        #expect(try scratch.permissions(of: "a/b") == 0o700)
        #expect(try scratch.permissions(of: "a/b/login.keychain") == 0o600)
        let slot = try Samples.slot(1)
        try store.write { writer throws(KeychainFault) in try writer.put(slot) }
        #expect(try scratch.permissions(of: "a/b/login.keychain-wal") == 0o600)
        store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch["a/b"]) == ["login.keychain"])
    }

    @Test("what exists, a dangling link included, is not replaced")
    func existing() throws {
        let scratch = try TemporaryDirectory()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: scratch.keychain))
        try FileManager.default.createSymbolicLink(atPath: scratch["link"], withDestinationPath: scratch["nowhere"])
        for name in ["login.keychain", "link"] {
            #expect(throws: StoreOpenError.alreadyExists) {
                try SQLiteRecordStore.create(at: scratch[name]) { _ in Issue.record("asked to fill it") }
            }
        }
        #expect(try String(contentsOfFile: scratch.keychain, encoding: .utf8) == "mine")
        #expect(try scratch.entries == ["link", "login.keychain"])
    }

    @Test("a file created concurrently at the name wins and is not modified")
    func race() throws {
        let scratch = try TemporaryDirectory()
        let url = URL(fileURLWithPath: scratch.keychain)
        #expect(throws: StoreOpenError.alreadyExists) {
            try SQLiteRecordStore.create(at: scratch.keychain) { _ in
                #expect(throws: Never.self) { try Data("theirs".utf8).write(to: url) }
            }
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == "theirs")
        #expect(try scratch.entries == ["login.keychain"])
    }

    @Test(
        "A log, journal or dangling link at such a name refuses a new keychain",
        arguments: ["-wal", "-shm", "-journal"])
    func leftovers(suffix: String) throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.keychain + suffix
        for isLink in [false, true] {
            if isLink {
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
            } else {
                try Data("theirs".utf8).write(to: URL(fileURLWithPath: path))
            }
            #expect(throws: StoreOpenError.leftoverFile(path: path)) {
                try SQLiteRecordStore.create(at: scratch.keychain) { _ in Issue.record("the store is created") }
            }
            #expect(try scratch.entries == ["login.keychain" + suffix])
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("nothing has the name before it is filled, and nothing is left if that fails")
    func failure() throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.keychain
        #expect(throws: StoreOpenError.initialization(.authFailed)) {
            try SQLiteRecordStore.create(at: path) { _ throws(KeychainFault) in
                #expect(!FileManager.default.fileExists(atPath: path))
                throw KeychainFault.authFailed
            }
        }
        #expect(try scratch.entries.isEmpty)
    }

    @Test("the store that was filled continues as the keychain")
    func continuation() throws {
        let scratch = try TemporaryDirectory()
        let record = try Samples.store()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { store throws(KeychainFault) in
            try store.write { writer throws(KeychainFault) in try writer.put(record) }
            return store
        }
        #expect(try store.read { reader throws(KeychainFault) in try reader.store() } == record)
        let item = try Samples.item(1)
        try store.write { writer throws(KeychainFault) in try writer.put(item, secret: [1]) }
        store.close()
        let again = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { again.close() }
        #expect(try again.read { reader throws(KeychainFault) in try reader.item(id: item.id) } == item)
    }

    @Test("a keychain cannot be created at a path through a file")
    func throughFile() throws {
        let scratch = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: scratch["file"]))
        #expect(throws: StoreOpenError.notRegularFile) {
            try SQLiteRecordStore.create(at: scratch["file/login.keychain"]) { $0 }
        }
        #expect(try scratch.entries == ["file"])
    }
}
