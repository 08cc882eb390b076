import DeviceState
import Foundation
import Testing

@testable import KeychainMount

/// The findings of `doctor` on other machines, simulated with files of /proc, /sys and /etc.
@Suite("H6: doctor") struct DoctorTests {
    /// A fact of a machine, and how bad it is.
    struct DoctorCase: CustomTestStringConvertible, Sendable {
        let finding: String
        let what: String
        let files: [String: String]
        let severity: Diagnosis.Severity

        init(_ finding: String, _ what: String, _ severity: Diagnosis.Severity, _ files: [String: String]) {
            (self.finding, self.what, self.severity, self.files) = (finding, what, severity, files)
        }

        var testDescription: String { "\(finding): \(what)" }
    }

    private static func swaps(_ line: String) -> [String: String] {
        ["/proc/swaps": "Filename Type Size Used Priority\n\(line) 1048572 0 -2\n"]
    }

    private static func root(_ mount: String) -> [String: String] { ["/proc/self/mountinfo": mount + "\n"] }

    private static let crypt = "CRYPT-LUKS2-0123-root\n"

    static let facts: [DoctorCase] = [
        DoctorCase("swap", "none", .ok, [:]),
        DoctorCase("swap", "a partition", .warning, swaps("/dev/sda3 partition")),
        DoctorCase(
            "swap", "dm-crypt", .ok,
            swaps("/dev/dm-1 partition").merging(["/sys/class/block/dm-1/dm/uuid": crypt]) { $1 }),
        DoctorCase(
            "swap", "LVM on dm-crypt", .ok,
            swaps("/dev/dm-1 partition").merging([
                "/sys/class/block/dm-1/dm/uuid": "LVM-abc\n", "/sys/class/block/dm-1/slaves/dm-0/x": "",
                "/sys/class/block/dm-0/dm/uuid": crypt,
            ]) { $1 }),
        DoctorCase(
            "swap", "LVM on a disk", .warning,
            swaps("/dev/dm-1 partition").merging([
                "/sys/class/block/dm-1/dm/uuid": "LVM-abc\n", "/sys/class/block/dm-1/slaves/sda3/x": "",
            ]) { $1 }),
        DoctorCase("swap", "zram", .ok, swaps("/dev/zram0 partition")),
        DoctorCase(
            "swap", "zram that writes to a disk", .warning,
            swaps("/dev/zram0 partition").merging(["/sys/class/block/zram0/backing_dev": "/dev/sda5\n"]) { $1 }),
        DoctorCase("swap", "a file on a disk", .warning, swaps("/swapfile file")),
        DoctorCase(
            "swap", "a file on dm-crypt", .ok,
            swaps("/swapfile file").merging(["/sys/dev/block/8:2/dm/uuid": crypt]) { $1 }),
        DoctorCase("hibernation", "the kernel cannot", .ok, ["/sys/power/state": "freeze mem\n"]),
        DoctorCase(
            "hibernation", "no disk is set", .ok, ["/sys/power/state": "mem disk\n", "/sys/power/resume": "0:0\n"]),
        DoctorCase(
            "hibernation", "to a disk", .warning, ["/sys/power/state": "mem disk\n", "/sys/power/resume": "8:3\n"]),
        DoctorCase(
            "hibernation", "to dm-crypt", .ok,
            ["/sys/power/state": "disk\n", "/sys/power/resume": "253:1\n", "/sys/dev/block/253:1/dm/uuid": crypt]),
        DoctorCase("tracing", "no Yama", .warning, [:]),
        DoctorCase("tracing", "ptrace_scope 0", .warning, ["/proc/sys/kernel/yama/ptrace_scope": "0\n"]),
        DoctorCase("tracing", "ptrace_scope 1", .ok, ["/proc/sys/kernel/yama/ptrace_scope": "1\n"]),
        DoctorCase("kernel", "with epochs", .ok, [:]),
        DoctorCase("kernel", "without epochs", .warning, ["/proc/sys/kernel/osrelease": "6.1.0-28-amd64\n"]),
        DoctorCase("disk", "ext4", .ok, [:]),
        DoctorCase("disk", "read-only", .warning, root("20 1 8:2 / / ro,relatime - ext4 /dev/sda2 ro")),
        DoctorCase("disk", "NFS", .warning, root("20 1 0:50 / / rw - nfs4 server:/ rw")),
        DoctorCase("disk", "sshfs", .warning, root("20 1 0:50 / / rw - fuse.sshfs host: rw")),
        DoctorCase("disk", "tmpfs", .warning, root("20 1 0:50 / / rw - tmpfs tmpfs rw")),
        DoctorCase("disk", "no /proc", .warning, root("")),
        DoctorCase("session", "no logind", .warning, [:]),
        DoctorCase("session", "logind", .ok, ["/run/systemd/sessions/1": "", "/run/dbus/system_bus_socket": ""]),
        DoctorCase("updatedb", "not installed", .ok, [:]),
        DoctorCase("updatedb", "root is not let in", .ok, ["/etc/updatedb.conf": "PRUNEFS=\"NFS proc\"\n"]),
        DoctorCase(
            "updatedb", "passes over keychains", .ok, ["/etc/updatedb.conf": "PRUNEFS = \"NFS fuse.keychainfs\"\n"]),
        DoctorCase(
            "memory-lock-limit", "enough", .ok,
            ["/proc/self/limits": "Max locked memory         8388608              8388608              bytes\n"]),
        DoctorCase(
            "memory-lock-limit", "unlimited", .ok,
            ["/proc/self/limits": "Max locked memory         unlimited            unlimited            bytes\n"]),
        DoctorCase(
            "memory-lock-limit", "too little", .warning,
            ["/proc/self/limits": "Max locked memory         65536                65536                bytes\n"]),
        DoctorCase("old-copies", "none", .ok, [:]),
        DoctorCase("old-copies", "after a restore", .warning, ["/home/data/login.keychain.replaced-2026-01-01": "x"]),
        DoctorCase("old-copies", "after a repair", .warning, ["/home/data/login.keychain.damaged-2026-01-01": "x"]),
        DoctorCase("old-copies", "another file", .ok, ["/home/data/other.keychain.damaged-2026-01-01": "x"]),
    ]

    @Test("each check reports success and failure, with the remedy", arguments: facts)
    func fact(_ fact: DoctorCase) throws {
        let machine = try FakeMachine(fact.files)
        let finding = try machine.finding(fact.finding, user: 1000)
        #expect(finding.severity == fact.severity, "\(finding.message)")
    }

    @Test("updatedb is warned of where others are let into the mount")
    func updatedb() throws {
        let machine = try FakeMachine(["/etc/updatedb.conf": "PRUNEFS=\"NFS\"\n"])
        try machine.put(
            "/proc/self/mountinfo",
            "20 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
                + "30 20 0:55 / \(machine.root)/home/mnt rw - fuse.other keychainfs rw,allow_other\n")
        #expect(try machine.finding("updatedb").severity == .warning)
        #expect(try machine.finding("updatedb").advice.hasSuffix("PRUNEFS=\"NFS fuse.keychainfs\""))
    }

    @Test("the users who may pass allow_other")
    func otherUsers() throws {
        let refused = try FakeMachine(["/etc/fuse.conf": "# user_allow_other\n"])
        #expect(try refused.finding("other-users", user: 1000).message.contains("refused"))
        #expect(try !refused.finding("other-users", user: 0).message.contains("refused"))
        let permitted = try FakeMachine(["/etc/fuse.conf": "mount_max = 10\nuser_allow_other\n"])
        #expect(try !permitted.finding("other-users", user: 1000).message.contains("refused"))
    }

    @Test("a clock behind the last change")
    func clock() throws {
        let machine = try FakeMachine()
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 86_400)],
            ofItemAtPath: machine.root + "/home/data/login.keychain")
        let finding = try machine.finding("clock")
        #expect(finding.severity == .warning && finding.message.contains("behind"))
    }

    @Test("a keychain that others read, one of another user, and none at all")
    func keychain() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("keychain").severity == .ok)
        #expect(try machine.finding("keychain", user: 12_345).severity == .problem)
        try machine.put("/home/data/login.keychain", "store", permissions: 0o640)
        #expect(try machine.finding("keychain").severity == .problem)
        try FileManager.default.removeItem(atPath: machine.root + "/home/data/login.keychain")
        #expect(try machine.finding("keychain").severity == .warning)
    }

    @Test("the passphrase file that the environment names")
    func passphraseFile() throws {
        let machine = try FakeMachine()
        let variables = ["KEYCHAINFS_PASSPHRASE_FILE": machine.root + "/home/passphrase"]
        #expect(try machine.finding("passphrase-file", variables).severity == .problem)
        try machine.put("/home/passphrase", "secret", permissions: 0o600)
        #expect(try machine.finding("passphrase-file", variables).severity == .ok)
        try machine.put("/home/passphrase", "secret", permissions: 0o644)
        #expect(try machine.finding("passphrase-file", variables).severity == .problem)
    }

    @Test("a mount point that is not empty, and a file as the mount point")
    func mountPoint() throws {
        let machine = try FakeMachine()
        #expect(try machine.finding("mount-point").severity == .ok)
        try machine.put("/home/mnt/file", "")
        #expect(try machine.finding("mount-point").severity == .problem)
        try FileManager.default.removeItem(atPath: machine.root + "/home/mnt")
        #expect(try machine.finding("mount-point").severity == .warning)
    }

    @Test("check names are unique and equal the documented list")
    func names() throws {
        let machine = try FakeMachine()
        let diagnosis = Doctor(
            keychain: KeychainPath(path: machine.root + "/home/data/login.keychain"),
            mountPoint: machine.root + "/home/mnt",
            locations: DefaultPaths(environment: ["HOME": machine.root + "/home"]), host: HostInfo(root: machine.root)
        ).examine()
        #expect(
            diagnosis.findings.map(\.name) == [
                "fuse-device", "fusermount3", "kernel", "other-users", "mount-point", "memory-lock-limit",
                "memory-locked",
                "no-core-dumps", "no-crash-reports", "freed-memory-wiped", "swap", "hibernation", "tracing", "keychain",
                "old-copies", "device-key", "state-directory", "disk", "disk-space", "clock", "session", "updatedb",
                "backups",
            ])
        for finding in diagnosis.findings where finding.severity != .ok {
            #expect(!finding.advice.isEmpty, "\(finding)")
        }
    }
}

extension FakeMachine {
    fileprivate borrowing func finding(
        _ name: String, user: UInt32 = geteuid(), _ variables: [String: String] = [:]
    ) throws -> Diagnosis.Finding {
        let environment = ["HOME": root + "/home"].merging(variables) { $1 }
        let diagnosis = Doctor(
            keychain: KeychainPath(path: root + "/home/data/login.keychain"), mountPoint: root + "/home/mnt",
            locations: DefaultPaths(environment: environment), host: HostInfo(root: root), user: user
        ).examine()
        let found = diagnosis.findings.filter { $0.name == name }
        #expect(found.count == 1, "\(name)")
        for finding in found where finding.severity != .ok { #expect(!finding.advice.isEmpty, "\(name)") }
        return try #require(found.first)
    }
}
