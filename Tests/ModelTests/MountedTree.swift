import FileSystemCore
import Foundation
import Glibc
import ModelTesting
import SystemPackage

/// A keychain mounted by the real daemon, used by real processes through the kernel.
final class MountedTree: SystemUnderTest {
    static let valueLimit = 1 << 20
    /// No close waits for RELEASE and no caller gets its reply: the commit of the last close becomes visible later.
    static let timeout = 10.0

    private let folder: URL
    private let started = ContinuousClock.now
    private var processes: [Int: StepProcess] = [:]

    private static let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    private var mountPoint: String { folder.appendingPathComponent("mnt").path }

    init() throws {
        folder = URL(fileURLWithPath: "/var/tmp/keychainfs-model-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(atPath: mountPoint, withIntermediateDirectories: true)
        try Data("correct horse\n".utf8).write(to: folder.appendingPathComponent("passphrase"))
        chmod(folder.appendingPathComponent("passphrase").path, 0o600)
        try keychainfs("create", "--kdf", "test")
        try keychainfs("mount", mountPoint)
    }

    deinit {
        for process in processes.values { process.kill() }
        if isMounted { try? keychainfs("unmount", mountPoint) }
        if isMounted { try? run("/usr/bin/env", ["fusermount3", "-uz", mountPoint]) }
        try? FileManager.default.removeItem(at: folder)
    }

    private var isMounted: Bool {
        let mounts = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        return mounts.contains(" \(mountPoint) fuse.")
    }

    // MARK: Commands

    /// Throws for a command that fails: a program has no such step.
    private func keychainfs(_ arguments: String...) throws { try keychainfs(arguments) }

    private func keychainfs(_ arguments: [String]) throws {
        try run(Self.programs.appendingPathComponent("keychainfs").path, arguments)
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = [
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path,
            "XDG_DATA_HOME": folder.appendingPathComponent("data").path,
            "XDG_STATE_HOME": folder.appendingPathComponent("state").path,
            "KEYCHAINFS_PASSPHRASE_FILE": folder.appendingPathComponent("passphrase").path,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let errors = folder.appendingPathComponent("errors")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let errorOutput = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
            throw CommandFailure(command: arguments.joined(separator: " "), errorOutput: errorOutput)
        }
    }

    // MARK: Steps

    /// While a name's ten seconds may or may not be over, nothing is done.
    func now(avoiding times: [Double]) -> Double {
        while true {
            let now = Double((ContinuousClock.now - started).components.seconds)
            guard times.contains(where: { (6...Model.freedLifetime + 2).contains(now - $0) }) else { return now }
            usleep(100_000)
        }
    }

    func perform(_ step: Step) throws -> Outcome {
        switch step.action {
        case .exit: processes.removeValue(forKey: step.process)?.end()
        case .die: processes.removeValue(forKey: step.process)?.kill()
        case .lock: try keychainfs("lock", mountPoint)
        case .unlock: try keychainfs("unlock", mountPoint)
        case .remount: try remount()
        case .remountLocked: try remount("--locked")
        case .fillDisk, .failDisk: break
        case .kill: try kill()
        case .wait: break
        default: return try process(step.process).perform(step.action)
        }
        return .done
    }

    private func process(_ number: Int) throws -> StepProcess {
        if let process = processes[number] { return process }
        let process = try StepProcess(Self.programs.appendingPathComponent("ModelProcess"), mountPoint)
        processes[number] = process
        return process
    }

    private func remount(_ options: String...) throws {
        for number in processes.keys.sorted() { processes.removeValue(forKey: number)?.end() }
        try keychainfs(["unmount", mountPoint])
        try keychainfs(["mount"] + options + [mountPoint])
    }

    private func kill() throws {
        let status = try Data(contentsOf: URL(fileURLWithPath: mountPoint + "/.keychainfs/status"))
        guard let report = try JSONSerialization.jsonObject(with: status) as? [String: Any],
            let daemon = report["pid"] as? Int32
        else { throw CommandFailure(command: "status", errorOutput: "no process") }
        Glibc.kill(daemon, SIGKILL)
        for process in processes.values { process.kill() }
        processes = [:]
        let deadline = ContinuousClock.now + .seconds(60)
        while isMounted, ContinuousClock.now < deadline { usleep(20_000) }
        try keychainfs("mount", mountPoint)
    }

    func finish() throws -> String? {
        for number in processes.keys.sorted() { processes.removeValue(forKey: number)?.end() }
        try keychainfs("unmount", mountPoint)
        do {
            try keychainfs("check")
            return nil
        } catch {
            return "the check at the end: \(error)"
        }
    }
}

struct CommandFailure: Error, CustomStringConvertible {
    let command: String
    let errorOutput: String

    var description: String { "keychainfs \(command): \(errorOutput)" }
}

/// A process that takes steps.
final class StepProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    init(_ program: URL, _ mountPoint: String) throws {
        process.executableURL = program
        process.arguments = [mountPoint]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func perform(_ action: Action) throws -> Outcome {
        input.fileHandleForWriting.write(try JSONEncoder().encode(action) + Data("\n".utf8))
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = received[..<end]
                received = Data(received[(end + 1)...])
                return try JSONDecoder().decode(Outcome.self, from: line)
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CommandFailure(command: "\(action)", errorOutput: "the process is gone") }
            received += more
        }
    }

    /// Waits until the process exits.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
