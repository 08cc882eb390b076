import Testing

@testable import Fuse

@Suite struct MountTableTests {
    private func table(_ lines: String...) -> MountTable {
        MountTable(parsing: Array(lines.joined(separator: "\n").utf8))
    }

    @Test("Other views of a mount have its device number; the mount itself and other file systems do not count")
    func otherViews() throws {
        let table = table(
            "30 1 8:1 / / rw - ext4 /dev/sda1 rw",
            "41 30 0:50 / /home/me/Keychain rw - fuse.keychainfs login.keychain rw",
            "42 30 0:51 / /home/me/Other rw - fuse.keychainfs other.keychain rw",
            "43 30 0:50 / /srv/view rw - fuse.keychainfs login.keychain rw",
            "44 30 8:50 / /disk rw - ext4 /dev/sdb rw")
        let mount = try #require(table.mount(at: "/home/me/Keychain"))
        #expect(table.otherViews(of: mount).map(\.path) == ["/srv/view"])
        let other = try #require(table.mount(at: "/home/me/Other"))
        #expect(table.otherViews(of: other).isEmpty)
    }

    @Test("A mount that received the device number and the path of an earlier one is a different entry")
    func reusedNumber() throws {
        let before = table(
            "41 30 0:50 / /mnt rw - fuse.keychainfs a rw", "43 30 0:50 / /view rw - fuse.keychainfs a rw")
        let after = table("44 30 0:50 / /view rw - fuse.keychainfs b rw")
        let views = before.otherViews(of: try #require(before.mount(at: "/mnt")))
        #expect(views.count == 1 && !after.entries.contains(where: views.contains))
    }

    @Test("An escaped byte of a path or a source is decoded; a backslash without three octal digits is kept")
    func escapes() {
        func path(_ field: String) -> String? {
            table("41 30 0:50 / \(field) rw - fuse.a source rw").entries.first?.path
        }
        #expect(path("/plain/ü") == "/plain/ü")
        #expect(path("/a\\040b\\011c\\012d\\134e\\043f") == "/a b\tc\nd\\e#f")
        #expect(path("/a\\0") == "/a\\0" && path("/a\\089") == "/a\\089" && path("/a\\777") == "/a\\777")
        #expect(table("41 30 0:50 / /m rw - fuse.a my\\040file rw").entries.first?.source == "my file")
    }
}
