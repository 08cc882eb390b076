import Testing

@testable import KeychainMount

@Suite("Links to the program")
struct ProgramLinkTests {
    @Test("E8: the arguments of a link are no options of the command for which it stands")
    func askpass() {
        for name in ["keychainfs-askpass", "/usr/bin/keychainfs-askpass", "./keychainfs-askpass"] {
            #expect(ProgramLink.words(of: [name, "--help"]) == ["helper", "askpass", "--", "--help"])
        }
        #expect(ProgramLink.words(of: ["keychainfs-askpass"]) == ["helper", "askpass", "--"])
    }

    @Test(
        "the program's own names are no links",
        arguments: [[], [""], ["/"], ["keychainfs", "keychainfs-askpass"], ["mount.keychainfs"]])
    func others(_ arguments: [String]) {
        #expect(ProgramLink.words(of: arguments) == nil)
    }
}
