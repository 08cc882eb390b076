import Foundation
import Glibc
import Keychain
import LinuxSupport
import Testing

@testable import KeychainStorage

@Suite("one user at a time")
struct InUseTests {
    private func closedKeychain(in scratch: TemporaryDirectory) throws {
        try SQLiteRecordStore.create(at: scratch.keychain) { $0 }.close()
    }

    @Test("S1: a second opening in this process is refused, and does not unlock the first")
    func sameProcess() throws {
        let scratch = try TemporaryDirectory()
        let store = try SQLiteRecordStore.create(at: scratch.keychain) { $0 }
        defer { store.close() }
        for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
            #expect(throws: StoreOpenError.inUse(processID: getpid())) {
                try SQLiteRecordStore.open(path: scratch.keychain, access: access)
            }
        }
        #expect(throws: LockingProcess.Refused.self) {
            _ = try LockingProcess(scratch.keychain, ["SELECT * FROM slot"])
        }
    }

    @Test("S4: a file that is about to be replaced takes no log of the new one with it when it is closed")
    func replaced() throws {
        let scratch = try TemporaryDirectory()
        try closedKeychain(in: scratch)
        try FileManager.default.copyItem(atPath: scratch.keychain, toPath: scratch["new"])
        let old = try SQLiteRecordStore.open(path: scratch.keychain)
        let slot = try Samples.slot(1)
        try old.write { writer throws(KeychainFault) in try writer.put(slot) }
        try old.removeLog()
        #expect(try scratch.entries == ["login.keychain", "new"])
        #expect(throws: LockingProcess.Refused.self) {
            _ = try LockingProcess(scratch.keychain, ["SELECT * FROM slot"])
        }
        #expect(rename(scratch["new"], scratch.keychain) == 0)
        let new = try SQLiteRecordStore.open(path: scratch.keychain)
        try new.write { writer throws(KeychainFault) in try writer.put(slot) }
        old.close()
        #expect(try scratch.entries == ["login.keychain", "login.keychain-wal"])
        #expect(new.isInPlace)
        new.close()
    }

    @Test("S1: what another process holds is refused, and its process is named")
    func otherProcess() throws {
        let scratch = try TemporaryDirectory()
        try closedKeychain(in: scratch)
        do {
            let holder = try LockingProcess(
                scratch.keychain, ["PRAGMA locking_mode = EXCLUSIVE", "SELECT * FROM slot"])
            for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
                #expect(throws: StoreOpenError.inUse(processID: holder.processID)) {
                    try SQLiteRecordStore.open(path: scratch.keychain, access: access)
                }
            }
            withExtendedLifetime(holder) {}
        }
        try SQLiteRecordStore.open(path: scratch.keychain).close()
    }

    @Test("While another process has the keychain open, its neighbors are not judged", arguments: ["-journal", "-wal"])
    func neighborsOfOtherProcess(suffix: String) throws {
        let scratch = try TemporaryDirectory()
        try closedKeychain(in: scratch)
        let foreign = scratch.keychain + suffix
        do {
            let holder = try LockingProcess(
                scratch.keychain, ["PRAGMA locking_mode = EXCLUSIVE", "SELECT * FROM slot"])
            let log = try scratch.otherLog()
            try? FileManager.default.removeItem(atPath: foreign)
            try FileManager.default.moveItem(atPath: log, toPath: foreign)
            for access in [SQLiteRecordStore.Access.readWrite, .readOnly] {
                #expect(throws: StoreOpenError.inUse(processID: holder.processID)) {
                    try SQLiteRecordStore.open(path: scratch.keychain, access: access)
                }
            }
            withExtendedLifetime(holder) {}
        }
        // The other process removes its log by name when it ends.
        if !FileManager.default.fileExists(atPath: foreign) {
            try FileManager.default.moveItem(atPath: try scratch.otherLog(), toPath: foreign)
        }
        let expected: StoreOpenError = suffix == "-wal" ? .mismatchedLog(path: foreign) : .foreignFile(path: foreign)
        #expect(throws: expected) { try SQLiteRecordStore.open(path: scratch.keychain) }
    }

    @Test("a writer is refused while another process reads only, and the error identifies it")
    func readerKeepsWriterOut() throws {
        let scratch = try TemporaryDirectory()
        try closedKeychain(in: scratch)
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        reader.arguments = [
            "python3", "-c",
            "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_SH); print('locked', flush=True); sys.stdin.read()",
            scratch.keychain,
        ]
        let input = Pipe()
        let output = Pipe()
        reader.standardInput = input
        reader.standardOutput = output
        try reader.run()
        #expect(output.fileHandleForReading.line() == "locked")
        #expect(throws: StoreOpenError.inUse(processID: reader.processIdentifier)) {
            try SQLiteRecordStore.open(path: scratch.keychain)
        }
        let other = try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly)
        other.close()
        try input.fileHandleForWriting.close()
        reader.waitUntilExit()
        try SQLiteRecordStore.open(path: scratch.keychain).close()
    }

    @Test("a reader shows itself in the kernel's list of locks until it is closed")
    func readerIsSeen() throws {
        let scratch = try TemporaryDirectory()
        try closedKeychain(in: scratch)
        let file = LockedFile(try StoreFile(path: scratch.keychain).identity)
        let store = try SQLiteRecordStore.open(path: scratch.keychain, access: .readOnly)
        #expect(LockHolder.processID(of: .reader, on: file) == getpid())
        store.close()
        #expect(LockHolder.processID(of: .reader, on: file) == nil)
    }

    @Test("the list of locks is read by inode, kind and bytes; waiting requests and other forms are passed over")
    func lockList() throws {
        let file = LockedFile(FileIdentity(device: 0x0801, inode: 42))
        let locks = """
            1: FLOCK  ADVISORY  WRITE 11 \(file.name) 0 EOF
            2: POSIX  ADVISORY  WRITE 12 \(file.name) 0 0
            3: POSIX  ADVISORY  WRITE 13 \(file.name)1 1073741826 1073742335
            4: -> POSIX  ADVISORY  WRITE 14 \(file.name) 1073741826 1073742335
            nonsense
            5: POSIX  ADVISORY  READ 17 \(file.name) 1073741826 1073742335
            6: POSIX  ADVISORY  WRITE 15 \(file.name) 1073741826 1073742335
            7: FLOCK  ADVISORY  READ 18 \(file.name) 0 EOF
            8: FLOCK  ADVISORY  READ 16 \(file.name) 0 EOF
            """
        #expect(LockHolder.processID(of: .sqlite, on: file, locks: locks) == 15)
        #expect(LockHolder.processID(of: .reader, on: file, except: 18, locks: locks) == 16)
        #expect(LockHolder.processID(of: .sqlite, on: file, locks: "") == nil)
    }

    @Test("devices are named as the kernel prints them (makedev(3))")
    func deviceNames() {
        #expect(LockedFile(FileIdentity(device: 0x1B, inode: 131)).name == "00:1b:131")
        #expect(LockedFile(FileIdentity(device: 0x0801, inode: 7)).name == "08:01:7")
        #expect(LockedFile(FileIdentity(device: 0x0000_1000_0020_3445, inode: 9)).name == "1034:245:9")
    }
}
