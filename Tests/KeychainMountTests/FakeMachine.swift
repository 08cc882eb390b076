import Foundation

/// A directory that represents the root of a machine, with a keychain and its owner's state.
struct FakeMachine: ~Copyable {
    let root = NSTemporaryDirectory() + "keychainfs-machine-" + UUID().uuidString

    init(_ files: [String: String] = [:]) throws {
        try put("/proc/swaps", "Filename Type Size Used Priority\n")
        try put("/proc/sys/kernel/osrelease", "6.18.1-test\n")
        try put("/proc/self/mountinfo", "20 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n")
        try put("/home/data/login.keychain", "store", permissions: 0o600)
        try FileManager.default.createDirectory(atPath: root + "/home/mnt", withIntermediateDirectories: true)
        for (path, text) in files { try put(path, text) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func put(_ path: String, _ text: String, permissions: Int = 0o644) throws {
        let file = URL(fileURLWithPath: root + path, isDirectory: false)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
    }
}
