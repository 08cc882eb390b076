import Testing

@testable import LinuxSupport

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

    @Test("Mounts in a mount have it as their parent, not only a path in it")
    func mountsInMount() throws {
        let table = table(
            "1 1 0:2 / / rw - rootfs rootfs rw", "30 1 8:1 / / rw - ext4 /dev/sda1 rw",
            "40 30 0:49 / /mnt/covered rw - tmpfs none rw", "41 30 0:50 / /mnt rw - fuse.keychainfs a rw",
            "42 41 0:51 / /mnt/s rw - tmpfs none rw", "43 42 0:52 / /mnt/s/deeper rw - tmpfs none rw",
            "44 30 0:53 / /mnt2 rw - tmpfs none rw")
        let mount = try #require(table.mount(at: "/mnt"))
        #expect(table.mounts(in: mount).map(\.path) == ["/mnt/s"])
        #expect(table.mounts(in: try #require(table.mount(identifier: 43))).isEmpty)
        #expect(table.mounts(in: try #require(table.mount(identifier: 1))).map(\.identifier) == [30])
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

    @Test("H3: a message is given to a mount of one type and of one user, in this namespace or its parent")
    func requirement() {
        let options = "rw,user_id=1000,group_id=1000,default_permissions,allow_other"
        let table = table(
            "30 1 8:1 / / rw - ext4 /dev/sda1 rw,user_id=1000",
            "41 30 0:50 / /home/a/Keychain rw - fuse.keychainfs a \(options)",
            "42 30 0:51 / /home/a/remote rw - fuse.sshfs host \(options)",
            "43 30 0:52 / /home/a/none rw - fuse.keychainfs a rw")
        func violation(_ number: Int, _ userID: UInt32?, outer: UInt32? = nil) -> MountRequirement.Violation? {
            let requirement = MountRequirement(type: "fuse.keychainfs", userID: userID)
            do throws(MountRequirement.Violation) {
                try requirement.check(number, in: table) { _ in outer }
                return nil
            } catch {
                return error
            }
        }
        #expect(violation(41, 1000) == nil && violation(41, nil) == nil)
        #expect(violation(41, 0, outer: 1000) == nil)
        #expect(violation(41, 0, outer: 0) == .anotherUser(1000) && violation(41, 1001) == .anotherUser(1000))
        for number in [0, 30, 42, 43, 44] {
            #expect(violation(number, 1000) == .anotherFileSystem && violation(number, nil) == .anotherFileSystem)
        }
    }

    @Test("H3: the number of a user in the parent namespace")
    func outerUser() {
        #expect(UserNamespace.outerUserID(of: 1000, map: "         0          0 4294967295\n") == 1000)
        #expect(UserNamespace.outerUserID(of: 0, map: "0 1000 1\n") == 1000)
        #expect(UserNamespace.outerUserID(of: 1, map: "0 1000 1\n1 100000 65536\n") == 100_000)
        #expect(UserNamespace.outerUserID(of: 1, map: "0 1000 1\n") == nil)
        #expect(
            UserNamespace.outerUserID(of: 7, map: "") == nil && UserNamespace.outerUserID(of: 7, map: "a b c") == nil)
        #expect(UserNamespace.outerUserID(of: 9, map: "0 4294967290 100\n") == nil)
    }

    @Test("C11: paths are compared by bytes, not by canonical equivalence") func normalization() throws {
        let (composed, decomposed) = ("/m/\u{e9}", "/m/e\u{301}")
        let table = table("30 1 8:1 / / rw - ext4 /dev/sda1 rw", "41 30 0:50 / \(composed) rw - fuse.keychainfs a rw")
        #expect(table.mount(at: composed)?.identifier == 41 && table.mount(at: decomposed) == nil)
        #expect(table.mount(holding: composed + "/x")?.identifier == 41)
        #expect(table.mount(holding: decomposed + "/x")?.identifier == 30)
    }
}
