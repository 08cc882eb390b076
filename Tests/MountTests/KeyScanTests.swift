import Foundation
import Keychain
import Testing

/// Searches for keys in the memory of a daemon and of its watchdog. This requires root, because neither is dumpable.
@Suite(.serialized) struct KeyScanTests {
    /// The classes whose keys a lock wipes.
    static let lockable: Set<ProtectionClass> = [
        .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly, .whenUnlockedUnlessOpen,
    ]

    @Test(
        "H2: after a lock no class key that it wipes, no user key and no slot key is in memory",
        arguments: Account.scanned)
    func keys(_ account: Account) throws {
        let passphrase = "canary \(UUID().uuidString)"
        let mount = try ScannedMount(account, passphrase: passphrase)
        defer { mount.remove() }
        try mount.run("create", "--kdf", "test")
        let material = try KeyMaterial(environment: mount.environment, passphrase: passphrase)
        try #require(material.passing.count == 5 && material.classes.count == ProtectionClass.allCases.count)
        try mount.run("mount", mount.mountPoint)
        defer { _ = try? mount.run("unmount", mount.mountPoint) }
        let daemon = try mount.daemon()
        try use(mount)
        for _ in 0..<2 {
            // The scan finds each class key; the keys from the passphrase to the user key have already been wiped.
            #expect(
                try mount.scan(daemon, material.wanted(Self.lockable)) == material.wanted(Self.lockable).keys.sorted())
            #expect(try mount.scan(daemon, material.passing) == [])
            // H1: none of them can be swapped out.
            let all = material.wanted(Set(ProtectionClass.allCases))
            #expect(try mount.scan(daemon, all, unlockedOnly: true) == [])
            try mount.run("lock", mount.mountPoint)
            #expect(try mount.scan(daemon, material.wanted(Self.lockable)) == [])
            #expect(try mount.scan(daemon, material.passing) == [])
            // The scan still finds the other keys, so it has not failed.
            let kept = material.wanted(Set(ProtectionClass.allCases).subtracting(Self.lockable))
            #expect(try mount.scan(daemon, kept) == kept.keys.sorted())
            try mount.run("unlock", mount.mountPoint)
        }
        let all = material.wanted(Set(ProtectionClass.allCases)).merging(material.passing) { old, _ in old }
        #expect(try mount.scan(mount.guardian(of: daemon), all) == [])
    }

    @Test(
        "H2, L5: after a rekey no earlier class key, user key or slot key is in memory",
        arguments: Account.scanned)
    func rekeyed(_ account: Account) throws {
        let passphrase = "canary \(UUID().uuidString)"
        let mount = try ScannedMount(account, passphrase: passphrase)
        defer { mount.remove() }
        try mount.run("create", "--kdf", "test")
        let old = try KeyMaterial(environment: mount.environment, passphrase: passphrase)
        try mount.run("mount", mount.mountPoint)
        defer { _ = try? mount.run("unmount", mount.mountPoint) }
        let daemon = try mount.daemon()
        try use(mount)
        let all = Set(ProtectionClass.allCases)
        #expect(try mount.scan(daemon, old.wanted(all)) == old.wanted(all).keys.sorted())
        try mount.run("rekey", mount.mountPoint)
        #expect(try mount.scan(daemon, old.wanted(all)) == [])
        #expect(try mount.scan(daemon, old.passing) == [])
        try mount.run("unmount", mount.mountPoint)
        let new = try KeyMaterial(environment: mount.environment, passphrase: passphrase)
        try mount.run("mount", mount.mountPoint)
        let next = try mount.daemon()
        #expect(try mount.scan(next, new.wanted(all)) == new.wanted(all).keys.sorted())
        try mount.run("rekey", mount.mountPoint)
        #expect(try mount.scan(next, new.wanted(all)) == [])
        #expect(try mount.scan(next, new.passing) == [])
    }

    /// Writes and reads an item of each class, so that every key has been used.
    private func use(_ mount: ScannedMount) throws {
        for protection in ProtectionClass.allCases {
            let item = "\(mount.mountPoint)/generic-passwords/s/\(protection.suffix)"
            try mount.shell(
                "mkdir -p '\(mount.mountPoint)/generic-passwords/s' && printf secret > '\(item)' && "
                    + "setfattr -n user.kSecAttrAccessible -v \(protection.suffix) '\(item)' && cat '\(item)' > /dev/null"
            )
        }
    }
}

extension KeyMaterial {
    /// The keys of those classes, by class and name.
    func wanted(_ protections: Set<ProtectionClass>) -> [String: String] {
        var found: [String: String] = [:]
        for (protection, keys) in classes where protections.contains(protection) {
            for (name, key) in keys { found["\(protection.suffix) \(name)"] = key }
        }
        return found
    }
}

/// A keychain of an account in a separate directory.
struct ScannedMount {
    private let account: Account
    private let directory: WorkDirectory
    private let program: String

    init(_ account: Account, passphrase: String) throws {
        self.account = account
        directory = try WorkDirectory(for: account)
        program = try directory.add(Case.program)
        _ = try directory.add(Case.folder.appendingPathComponent("scan.py"))
        try shell(
            "umask 077; mkdir '\(home)' '\(mountPoint)'; printf '%s\\n' '\(passphrase)' > '\(directory.path)/pass'")
    }

    var home: String { directory.path + "/home" }
    /// Without HOME alone, which runuser(1) sets.
    var environment: [String: String] {
        ["HOME": home, "XDG_DATA_HOME": home + "/data", "XDG_STATE_HOME": home + "/state"]
    }
    var mountPoint: String { directory.path + "/mnt" }

    func remove() { directory.remove() }

    @discardableResult
    func run(_ arguments: String...) throws -> String { try checked([program] + arguments) }

    func shell(_ script: String) throws { try checked(["bash", "-c", script]) }

    func daemon() throws -> Int {
        let status = try JSONSerialization.jsonObject(with: Data(run("status", "--json", mountPoint).utf8))
        return try #require((status as? [String: Any])?["pid"] as? Int)
    }

    /// The watchdog is the daemon's only child.
    func guardian(of daemon: Int) throws -> Int {
        let children = try String(contentsOfFile: "/proc/\(daemon)/task/\(daemon)/children", encoding: .utf8)
        return try #require(children.split(separator: " ").first.flatMap { Int($0) })
    }

    /// The names of the keys that are in the memory of the process; with `unlockedOnly`, in memory that is not locked.
    func scan(_ process: Int, _ wanted: [String: String], unlockedOnly: Bool = false) throws -> [String] {
        let list = directory.path + "/wanted"
        try wanted.map { "hex:\($0)\t\($1)\n" }.joined().write(toFile: list, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: list) }
        let option = unlockedOnly ? "--unlocked" : ""
        let script = "python3 -I '\(directory.path)/scan.py' \(option) \(process) < '\(list)'"
        let result = try Command.run(["bash", "-c", script])
        guard result.code == 0 else { throw CommandError(message: result.output) }
        let found = result.output.split(separator: "\n").compactMap { line in
            wanted.keys.first { line.hasPrefix("hex:\($0) in ") }
        }
        return Set(found).sorted()
    }

    @discardableResult
    private func checked(_ command: [String]) throws -> String {
        let result = try Command.run(
            try account.running(command),
            environment: environment.merging(["KEYCHAINFS_PASSPHRASE_FILE": directory.path + "/pass"]) { old, _ in old
            },
            directory: directory.path)
        guard result.code == 0 else { throw CommandError(message: "\(command): \(result.code) \(result.output)") }
        return result.output
    }
}
