import Testing

@testable import KeychainMount

@Suite("Links to the program")
struct ProgramLinkTests {
    @Test("E8: the arguments of a link are never options of its command")
    func askpass() {
        for name in ["keychainfs-askpass", "/usr/bin/keychainfs-askpass", "./keychainfs-askpass"] {
            #expect(ProgramLink.words(of: [name, "--help"]) == ["helper", "askpass", "--", "--help"])
        }
        #expect(
            ProgramLink.words(of: ["/usr/bin/git-credential-keychainfs", "get"]) == [
                "helper", "git-credential", "--", "get",
            ])
        #expect(ProgramLink.words(of: ["docker-credential-keychainfs"]) == ["helper", "docker-credential", "--"])
        #expect(ProgramLink.words(of: ["keychainfs-askpass"]) == ["helper", "askpass", "--"])
    }

    @Test(
        "another name of the program is not such a link",
        arguments: [[], [""], ["/"], ["keychainfs", "keychainfs-askpass"], ["mount.keychainfs"]])
    func others(_ arguments: [String]) {
        #expect(ProgramLink.words(of: arguments) == nil)
    }
}
