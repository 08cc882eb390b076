import Foundation
import Glibc
import Testing

/// A temporary directory for one test, removed with the value.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("keychainfs-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of the test's keychain.
    var keychain: String { self["login.keychain"] }

    subscript(name: String) -> String { path + "/" + name }

    /// In bytes; nil if there is no such file.
    func size(of name: String) throws -> Int? {
        guard FileManager.default.fileExists(atPath: self[name]) else { return nil }
        return try FileManager.default.attributesOfItem(atPath: self[name])[.size] as? Int
    }

    func permissions(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: self[name])[.posixPermissions] as? Int
    }

    /// Creates the log of a database of another program. Returns its path.
    func otherLog(pageSize: Int = 4096) throws -> String {
        // The connection is not closed, so that its log stays.
        let script = """
            import os, sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            for s in ("page_size = %s" % sys.argv[2], "journal_mode = WAL"): db.execute("PRAGMA " + s).fetchall()
            db.execute("CREATE TABLE t (x)"); db.execute("INSERT INTO t VALUES (randomblob(100000))")
            os._exit(0)
            """
        let database = self["other-\(UUID().uuidString)"]
        try run("python3", ["-c", script, database, String(pageSize)])
        return database + "-wal"
    }

    var entries: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}

/// A file system in memory of `kilobytes`, mounted for one test. Needs root.
final class SmallFileSystem {
    let path: String
    private let scratch: TemporaryDirectory

    init(kilobytes: Int) throws {
        try #require(geteuid() == 0, "this test mounts a tmpfs: run the tests as root")
        scratch = try TemporaryDirectory()
        path = scratch["disk"]
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "keychainfs-test", path])
    }

    deinit { _ = try? run("umount", [path]) }

    func remountReadOnly() throws { try run("mount", ["-o", "remount,ro", path]) }
}

/// Runs a program of the system and waits for its end. Returns its output.
@discardableResult
func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program): \(text)")
    return text
}

extension FileHandle {
    /// Returns the next line, or the rest of the file.
    func line() -> String {
        var bytes = Data()
        while bytes.last != UInt8(ascii: "\n") {
            let more = availableData
            guard !more.isEmpty else { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

/// Another program (Python's sqlite3) that has a database open until it is released.
final class LockingProcess {
    /// SQLite would not do it.
    struct Refused: Error {}

    let processID: Int32
    private let process = Process()
    private let input = Pipe()

    /// `statements` are executed first; what they lock stays locked.
    init(_ path: String, _ statements: [String]) throws {
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
            for statement in sys.argv[2:]: db.execute(statement).fetchall()
            print("ready", flush=True)
            sys.stdin.read()
            """
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path] + statements
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        processID = process.processIdentifier
        guard output.fileHandleForReading.line() == "ready" else { throw Refused() }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
