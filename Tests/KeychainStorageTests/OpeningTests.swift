import Foundation
import GRDB
import Keychain
import SystemPackage
import Testing

@testable import KeychainStorage

@Suite("opening a file")
struct OpeningTests {
    /// A closed keychain with one item, and its bytes.
    private func keychain(in scratch: TemporaryDirectory, commits: Int = 1) throws -> Data {
        let record = try Samples.store()
        let items = try (0..<commits).map { try Samples.item(Int64($0 + 1)) }
        try SQLiteRecordStore.create(at: scratch.keychain) { store throws(KeychainFault) in
            try store.write { writer throws(KeychainFault) in
                try writer.put(record)
                for item in items { try writer.put(item, secret: Array(repeating: 5, count: 100)) }
            }
            return store
        }.close()
        return try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
    }

    /// Both ways of opening refuse `bytes` with `error`, and leave the directory as it was.
    private func expectRefusal(
        _ bytes: Data, _ error: StoreOpenError, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let scratch = try TemporaryDirectory()
        let url = URL(fileURLWithPath: scratch.keychain)
        try bytes.write(to: url)
        for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
            #expect(throws: error, sourceLocation: sourceLocation) {
                try SQLiteRecordStore.open(path: scratch.keychain, access: access).close()
            }
        }
        #expect(try Data(contentsOf: url) == bytes, sourceLocation: sourceLocation)
        #expect(try scratch.entries == ["login.keychain"], sourceLocation: sourceLocation)
    }

    @Test("committed data exists after reopening, for reading and writing and for reading only")
    func reopening() throws {
        let scratch = try TemporaryDirectory()
        let bytes = try keychain(in: scratch)
        for access in [SQLiteRecordStore.Access.readOnly, .readWrite] {
            let store = try SQLiteRecordStore.open(path: scratch.keychain, access: access)
            defer { store.close() }
            let record = try Samples.store()
            let item = try Samples.item(1)
            try store.read { reader throws(KeychainFault) in
                #expect(try reader.store() == record)
                #expect(try reader.item(tag: item.tag, always: false) == item)
                #expect(try reader.secret(of: item.id).count == 100)
            }
            #expect(try store.verifyStructure() == 0)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)).count == bytes.count)
        #expect(try scratch.entries == ["login.keychain"])
    }

    @Test("no file, a directory, a pipe, a path through a file, a dangling link: each its own error")
    func noRegularFile() throws {
        let scratch = try TemporaryDirectory()
        #expect(throws: StoreOpenError.notFound) { try SQLiteRecordStore.open(path: scratch.keychain) }
        #expect(throws: StoreOpenError.notRegularFile) { try SQLiteRecordStore.open(path: scratch.path) }
        try run("mkfifo", [scratch["pipe"]])
        #expect(throws: StoreOpenError.notRegularFile) { try SQLiteRecordStore.open(path: scratch["pipe"]) }
        #expect(throws: StoreOpenError.notFound) { try SQLiteRecordStore.open(path: scratch["pipe/x"]) }
        try FileManager.default.createSymbolicLink(atPath: scratch["link"], withDestinationPath: scratch["nowhere"])
        #expect(throws: StoreOpenError.notFound) { try SQLiteRecordStore.open(path: scratch["link"]) }
        #expect(try scratch.entries == ["link", "pipe"])
    }

    @Test(
        "L4: a file that other users may write is refused and unchanged if the caller requires it, and read otherwise",
        arguments: [0o620, 0o602])
    func otherWriters(mode: Int) throws {
        let scratch = try TemporaryDirectory()
        try SQLiteRecordStore.create(at: scratch.keychain) { (store) throws(KeychainFault) in store }.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch.keychain))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: scratch.keychain)
        for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
            #expect(throws: StoreOpenError.othersMayWrite) {
                try SQLiteRecordStore.open(path: scratch.keychain, access: access, refusesOtherWriters: true)
            }
        }
        try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly).close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)) == before)
        for mode in [0o644, 0o600] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: scratch.keychain)
            try SQLiteRecordStore.open(path: scratch.keychain, refusesOtherWriters: true).close()
        }
    }

    /// Files that an attacker, or another program, can leave next to a keychain.
    enum Neighbor: String, CaseIterable, Sendable {
        case fifo, directory, socket, link, danglingLink, emptyFile, journal

        func create(at path: String, in scratch: TemporaryDirectory) throws {
            let manager = FileManager.default
            switch self {
            case .fifo: try run("mkfifo", [path])
            case .directory: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
            case .socket:
                try run("python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path])
            case .link: try manager.createSymbolicLink(atPath: path, withDestinationPath: "other")
            case .danglingLink: try manager.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
            case .emptyFile: try Data().write(to: URL(fileURLWithPath: path))
            case .journal:
                try Data(Self.journalHeader + [UInt8](repeating: 7, count: 8192)).write(to: URL(fileURLWithPath: path))
            }
        }

        /// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>
        private static let journalHeader: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    }

    @Test(
        "A FIFO, directory, socket or link at the name of the log, and anything at that of the journal, is refused by name",
        .timeLimit(.minutes(1)), arguments: ["-wal", "-journal"], Neighbor.allCases)
    func foreignFiles(suffix: String, neighbor: Neighbor) throws {
        let scratch = try TemporaryDirectory()
        let bytes = try keychain(in: scratch)
        try Data("other".utf8).write(to: URL(fileURLWithPath: scratch["other"]))
        // An empty log is normal, and one without a valid frame is empty.
        if suffix == "-wal", [.emptyFile, .journal].contains(neighbor) { return }
        let foreign = scratch.keychain + suffix
        try neighbor.create(at: foreign, in: scratch)
        let before = try scratch.entries
        for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
            #expect(throws: StoreOpenError.foreignFile(path: foreign)) {
                try SQLiteRecordStore.open(path: scratch.keychain, access: access).close()
            }
        }
        // By a link, too: the name is that of the file next to the keychain itself.
        try FileManager.default.createSymbolicLink(atPath: scratch["z"], withDestinationPath: "login.keychain")
        #expect(throws: StoreOpenError.foreignFile(path: foreign)) {
            try SQLiteRecordStore.open(path: scratch["z"]).close()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)) == bytes)
        #expect(try String(contentsOfFile: scratch["other"], encoding: .utf8) == "other")
        #expect(try scratch.entries == before + ["z"])
        try FileManager.default.removeItem(atPath: foreign)
        try SQLiteRecordStore.open(path: scratch.keychain).close()
    }

    @Test(
        "A file at the name of the shared memory, of any type, is neither opened nor changed",
        arguments: Neighbor.allCases)
    func sharedMemory(neighbor: Neighbor) throws {
        let scratch = try TemporaryDirectory()
        _ = try keychain(in: scratch)
        try neighbor.create(at: scratch.keychain + "-shm", in: scratch)
        let before = try scratch.entries
        for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
            try SQLiteRecordStore.open(path: scratch.keychain, access: access).close()
        }
        #expect(try scratch.entries == before)
    }

    @Test("S4: zero length, garbage, the database of another program: no keychain, and untouched")
    func notAKeychain() throws {
        try expectRefusal(Data(), .notAKeychain)
        try expectRefusal(Data("SQLite format 3\0".utf8), .notAKeychain)
        try expectRefusal(Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) }), .notAKeychain)
        let scratch = try TemporaryDirectory()
        let other = try DatabaseQueue(path: scratch["other.db"])
        try other.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
        try other.close()
        try expectRefusal(try Data(contentsOf: URL(fileURLWithPath: scratch["other.db"])), .notAKeychain)
    }

    @Test("S4: a truncated keychain is damaged, wherever it ends", arguments: [100, 4095, 4096, 5000, 4096 * 5])
    func truncated(_ count: Int) throws {
        let scratch = try TemporaryDirectory()
        let bytes = try keychain(in: scratch, commits: 40)
        try #require(bytes.count > count)
        try expectRefusal(bytes.prefix(count), .damaged)
    }

    @Test("S4: a damaged first page is refused")
    func damagedSchema() throws {
        var bytes = try keychain(in: try TemporaryDirectory())
        bytes.replaceSubrange(100..<4096, with: Data(repeating: 0xEE, count: 3996))
        try expectRefusal(bytes, .damaged)
    }

    @Test("S6: a newer format is named, and untouched")
    func newerFormat() throws {
        var bytes = try keychain(in: try TemporaryDirectory())
        bytes[63] = 9
        try expectRefusal(bytes, .unknownFormat(9))
    }

    @Test(
        "S2: a table, trigger, view or column that was never written is refused",
        arguments: [
            "CREATE TABLE extra (x)", "ALTER TABLE item ADD COLUMN account TEXT", "DROP INDEX item_tag",
            "CREATE VIEW v AS SELECT * FROM item",
            "CREATE TRIGGER t AFTER INSERT ON item BEGIN DELETE FROM slot; END",
        ])
    func foreignSchema(_ statement: String) throws {
        let scratch = try TemporaryDirectory()
        _ = try keychain(in: scratch)
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.writeWithoutTransaction { try $0.execute(sql: statement) }
        try queue.close()
        try expectRefusal(try Data(contentsOf: URL(fileURLWithPath: scratch.keychain)), .damaged)
    }

    @Test("S4, H5: wrong types and lengths in a row are a decode error of that row alone")
    func hostileRows() throws {
        let scratch = try TemporaryDirectory()
        _ = try keychain(in: scratch, commits: 3)
        let queue = try DatabaseQueue(path: scratch.keychain)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE item SET protection = 99 WHERE id = 1")
            try db.execute(sql: "UPDATE item SET metadata_seal = x'00' WHERE id = 2")
        }
        try queue.close()
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        for id in [Int64(1), 2] {
            #expect(throws: KeychainFault.decode) {
                try store.read { reader throws(KeychainFault) in try reader.item(id: RowID(rawValue: id)) }
            }
        }
        let intact = try Samples.item(3)
        #expect(try store.read { reader throws(KeychainFault) in try reader.item(id: intact.id) } == intact)
    }

    @Test("S4: a damaged page is found by the check of the structure and refused when it is read")
    func damagedPage() throws {
        let scratch = try TemporaryDirectory()
        var bytes = try keychain(in: scratch, commits: 200)
        let metadata = try Samples.item(1).metadata.ciphertext
        let start = try #require(bytes.range(of: Data(metadata))).lowerBound / 4096 * 4096
        bytes.replaceSubrange(start..<start + 4096, with: Data(repeating: 0xEE, count: 4096))
        try bytes.write(to: URL(fileURLWithPath: scratch.keychain))
        let store = try SQLiteRecordStore.open(path: scratch.keychain)
        defer { store.close() }
        #expect(try store.verifyStructure() > 0)
        func isReadable(_ id: RowID) -> Bool {
            do {
                let count = try store.read { reader throws(KeychainFault) in
                    try reader.secret(of: id).count + (reader.item(id: id)?.tag.count ?? 0)
                }
                return count > 0
            } catch { return false }
        }
        let failures = (Int64(1)...200).filter { !isReadable(RowID(rawValue: $0)) }
        #expect(!failures.isEmpty && failures.count < 200)
    }

    @Test("a symbolic link to a keychain is followed; its log is next to the keychain")
    func symbolicLink() throws {
        let scratch = try TemporaryDirectory()
        _ = try keychain(in: scratch)
        try FileManager.default.createDirectory(atPath: scratch["links"], withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: scratch["links/link"], withDestinationPath: "../login.keychain")
        let store = try SQLiteRecordStore.open(path: scratch["links/link"])
        defer { store.close() }
        let slot = try Samples.slot(1)
        try store.write { writer throws(KeychainFault) in try writer.put(slot) }
        #expect(try scratch.size(of: "login.keychain-wal") != nil)
        #expect(try scratch.size(of: "links/link-wal") == nil)
    }

    @Test("each errno and each result code has its error")
    func mapping() {
        #expect(StoreOpenError(.permissionDenied) == .permissionDenied)
        #expect(StoreOpenError(.readOnlyFileSystem) == .readOnlyFileSystem)
        #expect(StoreOpenError(.noSpace) == .diskFull)
        #expect(StoreOpenError(.tooManyOpenFiles) == .io(-24))
        let codes: [(ResultCode, KeychainFault)] = [
            (.SQLITE_CONSTRAINT_UNIQUE, .duplicateItem), (.SQLITE_CONSTRAINT_NOTNULL, .decode),
            (.SQLITE_MISMATCH, .decode), (.SQLITE_ERROR, .decode), (.SQLITE_IOERR, .io(10)),
            (.SQLITE_FULL, .diskFull), (.SQLITE_READONLY_DBMOVED, .readOnly), (.SQLITE_CORRUPT, .decode),
            (.SQLITE_NOTADB, .decode), (.SQLITE_IOERR_FSYNC, .io(1034)), (.SQLITE_NOMEM, .allocate),
            (.SQLITE_BUSY, .inUse(processID: 0)),
        ]
        for (code, error) in codes {
            #expect(KeychainFault(storage: DatabaseError(resultCode: code)) == error)
        }
        #expect(StoreOpenError(opening: DatabaseError(resultCode: .SQLITE_CANTOPEN)) == .permissionDenied)
    }
}
