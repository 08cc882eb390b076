import KeychainMount
import Testing

@testable import KeychainMount

@Suite("Unknown commands")
struct UnknownCommandTests {
    private let program = CommandName(
        "keychainfs",
        subcommands: [
            CommandName("mount"), CommandName("unmount"), CommandName("status"), CommandName("guard", isShown: false),
            CommandName("slot", subcommands: [CommandName("list"), CommandName("add"), CommandName("remove")]),
        ])

    private func message(_ line: String) -> String? {
        UnknownCommand(line.split(separator: " ").map(String.init), of: program)?.message(mountPoint: "/home/a b/K")
    }

    @Test(
        "an existing command, an option or no command is not an unknown command",
        arguments: [
            "", "mount", "mount x y", "slot list", "slot", "--help", "-o x", "help", "help slot", "guard x",
            "slot --help",
        ])
    func known(line: String) {
        #expect(message(line) == nil)
    }

    @Test(
        "for a misspelled command or subcommand, the nearest one is suggested",
        arguments: [
            ("mont", "keychainfs mount"), ("unmout", "keychainfs unmount"), ("STATUS", "keychainfs status"),
            ("sttaus", "keychainfs status"), ("slot lst", "keychainfs slot list"), ("help mont", "keychainfs mount"),
            ("slot rmove 2", "keychainfs slot remove"),
        ])
    func misspelled(line: String, suggestion: String) throws {
        #expect(try #require(message(line)).hasSuffix("Did you mean '\(suggestion)'?"))
    }

    @Test("for a word without a similar command, the list is suggested, without hidden commands")
    func list() throws {
        let text = try #require(message("frobnicate"))
        #expect(
            text
                == "There is no command 'frobnicate'. 'keychainfs --help' lists the commands: mount, unmount, status, slot."
        )
        #expect(
            try #require(message("slot frobnicate")).contains(
                "'keychainfs slot --help' lists the commands: list, add, remove."))
    }

    @Test(
        "for a command of another tool, the corresponding one is suggested, with a quoted mount point",
        arguments: [
            ("umount", "'keychainfs unmount'"), ("ls", "ls '/home/a b/K'"), ("list", "ls '/home/a b/K'"),
            ("insert", "'keychainfs add SERVICE/NAME'"), ("cat", "'/home/a b/K'/generic-passwords"),
            ("vim", "'keychainfs edit SERVICE/NAME'"),
            ("init", "'keychainfs create'"), ("passwd", "'slot change'"), ("fsck", "'keychainfs check'"),
        ])
    func foreign(word: String, advice: String) throws {
        #expect(try #require(message(word)).contains(advice))
    }

    @Test("control characters of a word are not printed")
    func printable() throws {
        #expect(
            try #require(UnknownCommand(["\u{1B}[31m"], of: program)).message(mountPoint: "/").contains("'\\u{1b}[31m'")
        )
    }

    @Test(
        "distances count insertions, deletions, substitutions and swaps",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("mount", "mount", 0), ("mont", "mount", 1),
            ("mounts", "mount", 1),
            ("moumt", "mount", 1), ("omunt", "mount", 1), ("umount", "unmount", 1), ("lock", "unlock", 2),
        ])
    func distance(first: String, second: String, expected: Int) {
        #expect(EditDistance.between(first, second) == expected)
        #expect(EditDistance.between(second, first) == expected)
    }

    @Test(
        "a shell word is quoted only if the shell would interpret it",
        arguments: [
            ("/srv/app.keychain", "/srv/app.keychain"), ("", "''"), ("a b", "'a b'"), ("$(x)", "'$(x)'"),
            ("it's", "'it'\\''s'"),
            ("~x", "'~x'"), ("ä", "'ä'"), ("a\nb", "'a\nb'"),
        ])
    func quoting(text: String, expected: String) {
        #expect(ShellWord.quoted(text) == expected)
    }
}
