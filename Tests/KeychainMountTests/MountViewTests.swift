import LinuxSupport
import Testing

@testable import KeychainMount

@Suite struct MountViewTests {
    private let table = MountTable(
        parsing: Array(
            """
            30 1 8:1 / / rw - ext4 /dev/sda1 rw
            41 30 0:50 / /home/me/Keychain rw - fuse.keychainfs login.keychain rw
            42 30 0:51 / /home/me/Other rw - fuse.keychainfs other.keychain rw
            43 30 0:50 / /srv/view rw - fuse.keychainfs login.keychain rw
            """.utf8))

    private func views(_ path: String) throws -> MountViews {
        MountViews(of: try #require(table.mount(at: path)), in: table)
    }

    @Test("H4: a daemon ends with the mount that has its ID, and with no other view", arguments: [41, nil])
    func mount(_ identifier: Int?) throws {
        let place = "/home/me/Keychain"
        #expect(try views(place).isMount(of: identifier, at: place))
        #expect(try !views("/srv/view").isMount(of: identifier, at: place))
    }

    @Test("H4: a mount that was moved is still the daemon's, a bind mount at its old path is not")
    func moved() throws {
        #expect(try views("/srv/view").isMount(of: 43, at: "/home/me/Keychain"))
        #expect(try !views("/home/me/Keychain").isMount(of: 43, at: "/home/me/Keychain"))
    }

    @Test("mounts that existed before and no longer exist are not named") func remaining() throws {
        #expect(try views("/home/me/Keychain").remaining.isEmpty && views("/home/me/Other").remaining.isEmpty)
    }
}
