import Testing

@testable import LinuxSupport

@Suite struct MountPresenceTests {
    private static let root = "30 1 8:1 / / rw - ext4 /dev/sda1 rw"
    private static let mount = "141 30 0:50 / /home/me/Keychain rw - fuse.keychainfs login.keychain rw"

    private func text(_ lines: String...) -> [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    private static let entry = MountTable(parsing: Array(mount.utf8)).entries[0]

    private var presence: MountPresence { MountPresence(Self.entry, in: text(Self.root, Self.mount)) }

    @Test("H4: a mount exists while its ID is in the table, wherever it was moved to")
    func present() {
        let moved = "141 30 0:50 / /srv/Keychain rw - fuse.keychainfs login.keychain rw"
        let shared = "141 30 0:50 / /srv/Keychain ro,relatime shared:7 - fuse.keychainfs login.keychain rw"
        for line in [Self.mount, moved, shared] { #expect(!presence.isMissing(in: text(Self.root, line))) }
        #expect(!presence.isMissing(in: text(Self.mount)))
    }

    @Test(
        "H4: other views of a mount, and lines that contain its ID elsewhere, do not count",
        arguments: [
            "142 30 0:50 / /view rw - fuse.keychainfs login.keychain rw",
            "42 30 0:50 /generic-passwords/s /view rw - fuse.keychainfs login.keychain rw",
            "141 30 0:51 / /home/me/Keychain rw - fuse.keychainfs login.keychain rw",
            "141 30 0:5 / /tmp rw - tmpfs 0:50 rw",
            "1410 30 0:50 / /home/me/Keychain rw - fuse.keychainfs login.keychain rw",
            "14 141 0:51 / /home/me/Keychain/141 rw - fuse.keychainfs 141 rw",
            "",
        ])
    func missing(_ line: String) { #expect(presence.isMissing(in: text(Self.root, line))) }

    @Test("H4: a table without the root directory, or an empty one, proves no unmount")
    func replacedRoot() {
        #expect(!presence.isMissing(in: []))
        #expect(!presence.isMissing(in: text("31 30 0:5 / /dev rw - devtmpfs udev rw")))
        // In a chroot whose root is not a mount, the root never has an entry.
        let inner = MountPresence(Self.entry, in: text(Self.mount))
        #expect(inner.isMissing(in: text("31 30 0:5 / /dev rw - devtmpfs udev rw")) && inner.isMissing(in: []))
    }
}
