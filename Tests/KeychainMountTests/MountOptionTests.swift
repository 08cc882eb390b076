import KeychainTree
import Testing

@testable import KeychainMount

@Suite struct MountOptionTests {
    @Test(
        "F9: 'staged_limit=' takes MiB, and the daemon in the background gets the same", arguments: [8, 9, 100, 65_536])
    func stagedLimit(_ count: Int) throws {
        let options = try MountOptionList(["ro,staged_limit=\(count)"])
        #expect(options.stagedLimit == count << 20)
        #expect(try MountOptionList(Array(options.arguments.dropFirst())) == options)
    }

    @Test("F9: the memory limit is 64 MiB unless given, and the daemon is given nothing then")
    func defaultLimit() throws {
        #expect(try MountOptionList([]).stagedLimit == 64 << 20)
        #expect(try MountOptionList(["staged_limit=64"]).arguments.isEmpty)
    }

    @Test(
        "F9: a memory limit that is not a number of MiB, or leaves another user no space for a value, is refused",
        arguments: ["", "7", "0", "-8", "+8", "8M", " 8", "65537", "99999999999999999999", "٨"])
    func badLimits(_ text: String) {
        #expect(throws: CLIError.self) { try MountOptionList(["staged_limit=\(text)"]) }
        #expect(throws: CLIError.self) { try MountOptionList(["staged_limit"]) }
    }
}
