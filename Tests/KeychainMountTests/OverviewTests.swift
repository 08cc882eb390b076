import Testing

@testable import KeychainMount

@Suite("keychainfs without a command")
struct OverviewTests {
    private func text(_ mounted: [(String, String, Int?)], keychainExists: Bool = true) -> String {
        Overview(
            mounted: mounted.map { Overview.Mounted(mountPoint: $0.0, state: $0.1, items: $0.2) },
            keychainExists: keychainExists, defaultMountPoint: "/home/amy/Keychain"
        ).text
    }

    @Test("without a mount, the next command mounts the keychain or creates one")
    func noMount() {
        #expect(
            text([]).hasPrefix(
                "No keychain is mounted.\n\nNext:\n  keychainfs mount   mount your keychain at /home/amy/Keychain"))
        #expect(text([], keychainExists: false).contains("\n  keychainfs create "))
    }

    @Test("each mount is listed with its state, and the first mount that is not unlocked gets the suggestions")
    func mounts() {
        let text = text([("/home/amy/Keychain", "unlocked", 1), ("/srv/a b", "locked", 20)])
        #expect(text.contains("  /home/amy/Keychain  unlocked, 1 item\n  /srv/a b            locked, 20 items\n"))
        #expect(text.contains("\n  keychainfs unlock '/srv/a b' "))
    }

    @Test(
        "the default mount point is omitted in suggestions",
        arguments: [
            ("unlocked", "ls /home/amy/Keychain"), ("unlocked", "keychainfs lock  "), ("locked", "keychainfs unlock  "),
            ("before-first-unlock", "keychainfs unlock  "), ("does not respond", "keychainfs unmount"),
        ])
    func suggestions(state: String, command: String) {
        #expect(text([("/home/amy/Keychain", state, nil)]).contains("\n  " + command))
    }

    @Test("there are three suggestions in every state", arguments: ["unlocked", "locked", "its daemon has ended", nil])
    func count(state: String?) {
        let text = text(state.map { [("/m", $0, nil)] } ?? [])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.drop { $0 != "Next:" }.dropFirst().prefix { !$0.isEmpty }.count == 3)
    }
}
