import Foundation
import Testing

@testable import KeychainMount

@Suite("Completion")
struct CompletionTests {
    private static let description = """
        {"command": {"commandName": "keychainfs", "shouldDisplay": true, "subcommands": [
          {"commandName": "mount", "abstract": "Mount.", "shouldDisplay": true, "arguments": [
            {"kind": "option", "names": [{"kind": "long", "name": "keychain"}], "valueName": "keychain", "completionKind": {"file": {"extensions": []}}, "isRepeating": false, "shouldDisplay": true},
            {"kind": "option", "names": [{"kind": "short", "name": "o"}], "valueName": "options", "isRepeating": true, "shouldDisplay": true},
            {"kind": "flag", "names": [{"kind": "short", "name": "f"}, {"kind": "long", "name": "foreground"}], "isRepeating": false, "shouldDisplay": true},
            {"kind": "flag", "names": [{"kind": "long", "name": "hidden"}], "isRepeating": false, "shouldDisplay": false},
            {"kind": "positional", "valueName": "mount-point", "completionKind": {"directory": {}}, "isRepeating": false, "shouldDisplay": true}]},
          {"commandName": "guard", "shouldDisplay": false},
          {"commandName": "search", "shouldDisplay": true, "arguments": [
            {"kind": "positional", "valueName": "term", "completionKind": {"list": {"values": ["label=", "service="]}}, "isRepeating": true, "shouldDisplay": true}]},
          {"commandName": "slot", "shouldDisplay": true, "subcommands": [
            {"commandName": "remove", "shouldDisplay": true, "arguments": [
              {"kind": "option", "names": [{"kind": "long", "name": "keychain"}], "valueName": "keychain", "completionKind": {"file": {"extensions": []}}, "isRepeating": false, "shouldDisplay": true},
              {"kind": "positional", "valueName": "id", "isRepeating": false, "shouldDisplay": true},
              {"kind": "positional", "valueName": "mount-point", "completionKind": {"directory": {}}, "isRepeating": false, "shouldDisplay": true}]}]}]}}
        """
    private let tree: CommandTree

    init() throws { tree = try #require(CommandTree(description: Self.description)) }

    private func query(_ line: String) throws -> CompletionQuery {
        let words = try #require(ShellWords(line))
        return CompletionQuery(words: words.words, current: words.current, tree: tree)
    }

    private func words(_ line: String) throws -> [String] {
        guard case .words(let words) = try query(line) else { return [] }
        return words.map(\.word)
    }

    @Test("commands and options are those of the program, without hidden ones")
    func names() throws {
        #expect(try words("") == ["mount", "search", "slot"])
        #expect(try words("slot ") == ["remove"])
        #expect(try words("help ") == ["mount", "search", "slot"] && words("help slot ") == ["remove"])
        #expect(try words("mount -") == ["--keychain", "-o", "--foreground"])
        #expect(try query("frobnicate ") == .nothing && query("mount a ") == .nothing)
    }

    @Test(
        "the kind of a value follows from the option or the position",
        arguments: [
            ("mount --keychain ", CompletionQuery.keychain), ("mount --keychain=/x", .keychain),
            ("mount --foreground ", .mountPoint),
            ("mount ", .mountPoint), ("mount -- -x", .mountPoint),
            ("slot remove ", .slot(keychain: nil)),
            ("slot remove --keychain 'a b' ", .slot(keychain: "a b")),
            ("slot remove --keychain=c ", .slot(keychain: "c")), ("slot remove 1 ", .mountPoint),
        ])
    func values(line: String, expected: CompletionQuery) throws {
        #expect(try query(line) == expected)
    }

    @Test("search terms and mount options; the options before a comma stay")
    func lists() throws {
        #expect(try words("search ").contains("label=") && words("search a b ").contains("service="))
        #expect(try words("mount -o ro,lo").contains("ro,locked") && words("mount -o ").contains("fsname="))
    }

    @Test(
        "words are split and unquoted as by a shell",
        arguments: [
            ("a b ", ["a", "b"], "", ""), ("a b", ["a"], "b", "b"), (#"a b\ c"#, ["a"], "b c", #"b\ c"#),
            ("a 'b $c", ["a"], "b $c", "'b $c"), (#"a "b\$ \x"#, ["a"], #"b$ \x"#, #""b\$ \x"#),
            ("a 'b'\"c\"d", ["a"], "bcd", "'b'\"c\"d"),
            ("  a\t", ["a"], "", ""), ("", [], "", ""), (#"a\"#, [], "a", #"a\"#), ("'' ", [""], "", ""),
        ])
    func splitting(line: String, words: [String], current: String, raw: String) throws {
        let split = try #require(ShellWords(line))
        #expect(split.words == words && split.current == current && split.rawCurrent == raw)
    }

    @Test("a line with an expansion has no candidates", arguments: ["a $b", "a `b", "a \"$b", "a \"`b", "$(x) "])
    func expansion(line: String) {
        #expect(ShellWords(line) == nil)
    }

    @Test("bash gets the part of a word that it replaces, zsh the part after the last slash, fish the word")
    func shells() {
        func output(_ shell: CompletionResult.Shell, _ words: String...) -> String? {
            CompletionResult(shell, words, tree: tree)?.output.replacing("\0", with: "|").replacing("\n", with: "|")
        }
        #expect(output(.bash, "keychainfs mo", "mo") == "mount|")
        #expect(output(.bash, "keychainfs 'mo", "mo") == "mount|")
        #expect(output(.bash, "keychainfs mount -o staged_limit=8,noe", "8,noe") == "8,noexec|")
        #expect(output(.bash, "keychainfs mo", "other") == nil && output(.bash, "keychainfs $x", "") == nil)
        #expect(output(.zsh, "keychainfs", "mo") == "words|mount|Mount.|")
        #expect(output(.zsh, "keychainfs", "mount", "--fo") == "paths|--foreground|")
        #expect(output(.fish, "keychainfs", "mount", "--fo") == "--foreground|")
        #expect(output(.fish, "keychainfs", "mo") == "mount\tMount.|")
        #expect(output(.fish) == nil && output(.fish, "keychainfs", "`x") == nil)
    }

    @Test("completion of paths: directories end in a slash, hidden names need their dot, a dash begins no option")
    func paths() throws {
        let root = NSTemporaryDirectory() + "keychainfs-paths-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        for name in ["home/dir/sub", "home/dir/.hidden"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
        }
        for name in ["a b", "$(x)", "s", "-d"] {
            #expect(FileManager.default.createFile(atPath: "\(root)/home/dir/\(name)", contents: nil))
        }
        try FileManager.default.createSymbolicLink(atPath: "\(root)/home/dir/link", withDestinationPath: "sub")
        func found(_ typed: String, onlyDirectories: Bool = false) -> [String] {
            PathCompletion.candidates(for: typed, home: root + "/home", onlyDirectories: onlyDirectories)
        }
        #expect(found("~/dir/") == ["~/dir/$(x)", "~/dir/-d", "~/dir/a b", "~/dir/link/", "~/dir/s", "~/dir/sub/"])
        #expect(
            found("~/dir/s") == ["~/dir/s", "~/dir/sub/"] && found("~/dir/s", onlyDirectories: true) == ["~/dir/sub/"])
        #expect(found("~/dir/.") == ["~/dir/.hidden/"] && found(root + "/home/d") == [root + "/home/dir/"])
        #expect(found("~") == ["~/"] && found("~root/") == [] && found(root + "/none/") == [])
    }
}
