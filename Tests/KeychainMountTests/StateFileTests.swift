import FileSystemTesting
import Foundation
import Keychain
import KeychainStorage
import LinuxSupport
import SecretCrypto
import Synchronization
import SystemPackage
import Testing

@testable import DeviceState
@testable import KeychainMount

/// A temporary directory for one test, removed with the value.
final class StateDirectory {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("keychainfs-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

    func mode(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path + "/" + name)[.posixPermissions] as? Int
    }
}

@Suite("what belongs to this device")
struct StateFileTests {
    private let state = StateDirectory()
    private let store = [UInt8](0..<16)

    @Test("S2: there is one file of mode 0600 per store, replaced completely, in a directory that is created")
    func numbers() throws {
        let file = CommitNumberFile(directory: state.path + "/a/b")
        #expect(try file.load(for: store) == nil)
        for record in [[1, 2, 3], [9], [UInt8](repeating: 7, count: 57)] as [[UInt8]] {
            try file.save(record, for: store)
            #expect(try file.load(for: store) == record)
        }
        try file.save([5], for: [UInt8](repeating: 0xAB, count: 16))
        let names = try FileManager.default.contentsOfDirectory(atPath: state.path + "/a/b").sorted()
        #expect(
            names == [
                "commit-number.000102030405060708090a0b0c0d0e0f", "commit-number.abababababababababababababababab",
            ])
        for name in names { #expect(try state.mode(of: "a/b/" + name) == 0o600) }
        #expect(try state.mode(of: "a/b") == 0o700)
        #expect(try file.load(for: store)?.count == 57)
    }

    @Test("S2: an unreadable file is not treated as a missing file")
    func unreadable() throws {
        let file = CommitNumberFile(directory: state.path)
        let path = file.path(for: store)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(try file.load(for: store) == [])
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        #expect(try file.load(for: store) == [])
    }

    @Test("F9: an exhausted quota is a full disk")
    func quota() {
        #expect(KeychainFault(Errno.noSpace) == .diskFull && KeychainFault(Errno.diskQuotaExceeded) == .diskFull)
        #expect(KeychainFault(Errno.readOnlyFileSystem) == .readOnly)
        #expect(KeychainFault(Errno.ioError) == .io(-EIO))
    }

    @Test("F9, S1, S4: a failed backup names the file that the disk refuses; damage is that of the keychain")
    func backup() {
        func error(_ error: CopyError<KeychainFault>) -> (code: ExitCode, names: [Bool]) {
            let error = CLIError(error, keychain: "/keychain", copy: "/backup")
            return (error.exitCode, ["/keychain", "/backup"].map(error.message.contains))
        }
        for fault in [KeychainFault.io(266), .io(-EIO), .diskFull, .decode] {
            #expect(error(.source(fault)).names == [true, false])
        }
        for fault in [KeychainFault.io(778), .io(-EIO), .diskFull, .readOnly] {
            #expect(error(.copy(fault)).names == [false, true])
        }
        #expect(error(.copy(.diskFull)).code == .diskFull && error(.copy(.readOnly)).code == .readOnly)
        #expect(error(.copy(.decode)) == (.badKeychain, [true, false]))
    }

    @Test("S2: a failed write is reported and leaves no file")
    func unwritable() throws {
        try FileManager.default.createDirectory(atPath: state.path, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: state.path + "/file"))
        let file = CommitNumberFile(directory: state.path + "/file")
        #expect(throws: KeychainFault.self) { try file.save([1], for: store) }
        #expect(state.names == ["file"])
    }

    @Test("S2: it happens at most once in the period, again and again, and never after the end")
    func timer() throws {
        let count = Atomic<Int>(0)
        let timer = try PeriodicTimer(seconds: 0.2) { count.add(1, ordering: .relaxed) }
        Thread.sleep(forTimeInterval: 1.1)
        timer.cancel()
        let atEnd = count.load(ordering: .relaxed)
        #expect((1...5).contains(atEnd))
        Thread.sleep(forTimeInterval: 0.5)
        #expect(count.load(ordering: .relaxed) == atEnd)
    }

    @Test("S2: on request it runs without waiting for the period; requests within the delay share one run")
    func timerOnRequest() throws {
        let runs = TestSemaphore()
        let timer = try PeriodicTimer(seconds: 3600) { runs.signal() }
        timer.runSoon()
        #expect(runs.wait(seconds: 30))
        timer.cancel()
        let delayed = try PeriodicTimer(seconds: nil, delay: 0.3) { runs.signal() }
        for _ in 0..<100 { delayed.runSoon() }
        #expect(runs.wait(seconds: 30))
        #expect(!runs.wait(seconds: 0.6))
        delayed.runSoon()
        delayed.cancel()
        #expect(!runs.wait(seconds: 0))
    }

    @Test("L6: a read-only caller does not create a missing device key; for others it is created once and stays")
    func deviceKey() throws {
        let file = DeviceKeyFile(path: state.path + "/device.key")
        let temporary = try file.readOnly()
        let count = temporary.count
        #expect(count == 32 && !file.exists && state.names.isEmpty)
        let made = try file.read()
        let isNew = !made.isEqual(to: temporary)
        #expect(isNew)
        let again = try file.read()
        let looked = try file.readOnly()
        let isKept = again.isEqual(to: made) && looked.isEqual(to: made)
        #expect(isKept)
        #expect(state.names == ["device.key"])
        #expect(try state.mode(of: "device.key") == 0o600)
    }

    @Test("L6: a device key that systemd passes is used, never created, and has 32 bytes; the numbers stay in place")
    func credential() throws {
        let directory = state.path + "/credentials"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let locations = DefaultPaths(environment: [
            "HOME": state.path, "XDG_STATE_HOME": state.path, "CREDENTIALS_DIRECTORY": directory,
        ])
        #expect(locations.deviceKeyCredential == nil)
        #expect(locations.deviceKey == state.path + "/keychainfs/device.key")
        let path = directory + "/keychainfs.device-key"
        let bytes = [UInt8](0..<32)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(locations.deviceKey == path && locations.stateDirectory == state.path + "/keychainfs")
        let key = try DeviceKeyFile(locations).read()
        let isThat = key.isEqual(to: try SecretBytes(copying: bytes.rawSpan))
        #expect(isThat)
        #expect(state.names == ["credentials"])
        for wrong in [[], [UInt8](0..<31), [UInt8](0..<33)] as [[UInt8]] {
            try Data(wrong).write(to: URL(fileURLWithPath: path))
            #expect {
                _ = try DeviceKeyFile(locations).read().count
            } throws: { ($0 as? DeviceKeyError)?.message.contains("32 bytes") == true }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(wrong))
        }
        // Not a relative one.
        #expect(DefaultPaths(environment: ["HOME": "/h", "CREDENTIALS_DIRECTORY": "c"]).deviceKeyCredential == nil)
    }

    @Test("S1: a draft gets a name that is free, and takes none that is not; unpublished it leaves nothing")
    func drafts() throws {
        try FileManager.default.createDirectory(atPath: state.path, withIntermediateDirectories: true)
        let target = state.path + "/target"
        func install(_ bytes: [UInt8]) throws(Errno) {
            let draft = try TemporaryFile(for: target)
            try draft.write(bytes)
            try draft.install()
        }
        try install([1])
        #expect(throws: Errno.fileExists) { try install([2]) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data([1]))
        #expect(state.names == ["target"])
        #expect(try state.mode(of: "target") == 0o600)
        try FileManager.default.removeItem(atPath: target)
        try FileManager.default.createSymbolicLink(atPath: target, withDestinationPath: state.path + "/nowhere")
        #expect(throws: Errno.fileExists) { try install([3]) }
        #expect(state.names == ["target"])
    }
}
