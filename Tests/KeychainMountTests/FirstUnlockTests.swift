import DeviceState
import FileSystemCore
import Foundation
import Keychain
import KeychainTesting
import KeychainTree
import SecretCrypto
import SystemPackage
import Testing

@testable import KeychainMount

/// A keychain file whose tree is used without a mount, from before the first unlock on.
private struct LockedMount {
    let opened: OpenedKeychain
    let tree: KeychainFileSystem
    let commands: ControlCommandLine

    init(_ file: KeychainPath) throws {
        opened = try file.open(isReadOnly: false)
        let snapshots = SnapshotWriter(opened, path: file.path)
        commands = ControlCommandLine(
            processID: getpid(), keychainPath: file.path, mountPoint: "/nowhere", home: "/", snapshots: snapshots,
            buffersLocked: { true }, mountID: { 1 },
            automaticLock: { AutomaticLockStatus(LockPolicy(), remaining: nil, connection: nil) })
        tree = KeychainFileSystem(
            keychain: opened.keychain, options: TreeOptions(userID: getuid(), groupID: getgid()),
            host: SystemTreeHost(directory: (file.path as NSString).deletingLastPathComponent, trim: {}),
            commands: commands)
    }

    /// Sends one command through the control file, as a client writes it.
    @discardableResult
    func control(_ command: String) throws -> String {
        let bytes = Array(command.utf8)
        var request = Request(caller: Caller(userID: getuid(), groupID: getgid(), processID: 1))
        let answer = try commands.run(bytes.rawSpan, on: tree, request: &request)
        return String(decoding: answer, as: UTF8.self)
    }

    func status() throws -> StatusReport { try StatusReport(json: commands.status(of: tree)) }
}

@Suite("the first unlock of a mounted keychain")
struct FirstUnlockTests {
    private let state = StateDirectory()
    private let file: KeychainPath

    init() throws {
        file = KeychainPath(
            path: state.path + "/k",
            locations: DefaultPaths(environment: ["HOME": state.path, "XDG_STATE_HOME": state.path]))
        try file.create(passphrase: SecretBytes(text: "correct"), cost: .cheap)
    }

    /// Unlocks, commits that often, and closes it.
    private func use(commits: Int) throws {
        let mount = try LockedMount(file)
        defer { mount.opened.keychain.close() }
        try mount.control("unlock\ncorrect")
        for number in 0..<commits {
            try mount.opened.keychain.change { change throws(KeychainFault) in
                let file = PosixAttributes(
                    inode: 0, permissions: 0o700, userID: 0, groupID: 0, modificationTime: KeychainDate(seconds: 0),
                    accessTime: KeychainDate(seconds: 0))
                let container = try change.container(ContainerKey(itemClass: .genericPassword), file: file)
                let name = AttributeValue.string("\(Date().timeIntervalSince1970)-\(number)")
                _ = try change.addDirectory(.service(.generic(service: name)), in: container.id, file: file)
            }
        }
    }

    @Test("S2: through the control file an older copy is ESTALE and stays locked, until it is accepted")
    func olderCopy() throws {
        try use(commits: 1)
        try FileManager.default.copyItem(atPath: file.path, toPath: state.path + "/older")
        try use(commits: 1)
        try FileManager.default.removeItem(atPath: file.path)
        try FileManager.default.moveItem(atPath: state.path + "/older", toPath: file.path)
        let mount = try LockedMount(file)
        #expect { try mount.control("unlock\ncorrect") } throws: { error in
            guard case .rolledBack(let kept, let found)? = error as? KeychainFault else { return false }
            return kept > found && KeychainFault.rolledBack(kept: kept, found: found).errno == .staleNFSFileHandle
        }
        #expect(try mount.status().state == "before-first-unlock")
        #expect(throws: KeychainFault.authFailed) { try mount.control("unlock --accept-rollback\nwrong") }
        try mount.control("unlock --accept-rollback\ncorrect")
        let status = try mount.status()
        #expect(status.state == "unlocked" && status.device.rollback == "accepted")
        mount.opened.keychain.close()
        try use(commits: 0)
    }

    @Test("S2: a copy from before a change of slots is EKEYREVOKED; accepted, status warns of it")
    func olderUserKey() throws {
        try use(commits: 1)
        try FileManager.default.copyItem(atPath: file.path, toPath: state.path + "/older")
        let changed = try LockedMount(file)
        try changed.control("unlock\ncorrect")
        let keys = changed.opened.keychain.keys
        let passphrase = { try UnlockSecret(passphrase: SecretBytes(copying: Array("correct".utf8).rawSpan)) }
        _ = try keys.changeSlot(1, to: passphrase(), authorizedBy: keys.root(of: passphrase()))
        #expect(try changed.status().warnings == [])
        changed.opened.keychain.close()
        try FileManager.default.removeItem(atPath: file.path)
        try FileManager.default.moveItem(atPath: state.path + "/older", toPath: file.path)
        let mount = try LockedMount(file)
        defer { mount.opened.keychain.close() }
        #expect(throws: KeychainFault.replacedUserKey) { try mount.control("unlock\ncorrect") }
        #expect(KeychainFault.replacedUserKey.errno == .keyRevoked)
        try mount.control("unlock --accept-rollback\ncorrect")
        #expect(try mount.status().warnings == [StatusReport.Device.replacedUserKeyWarning])
    }

    @Test("S1: before the first unlock a backup fails without a trace; afterwards it succeeds, locked or not")
    func backup() throws {
        try use(commits: 2)
        let mount = try LockedMount(file)
        defer { mount.opened.keychain.close() }
        #expect(throws: KeychainFault.interactionNotAllowed) { try mount.control("backup\n") }
        #expect(state.names.filter { $0.contains("backup") } == [])
        try mount.control("unlock\ncorrect")
        try mount.control("lock\n")
        let answer = try SnapshotResult(json: Array(mount.control("backup\n").utf8))
        #expect(FileManager.default.fileExists(atPath: answer.file))
        let copy = KeychainPath(path: answer.file, locations: file.locations)
        let opened = try copy.open(isReadOnly: true, isBackup: true)
        defer { opened.keychain.close() }
        try opened.keychain.keys.unlock(passphrase: SecretBytes(text: "correct"))
        let report = try opened.keychain.check()
        #expect(report.isConsistent && report.directories == 3)
    }
}
