import SecretCrypto
import Testing

@testable import KeychainCommands

@Suite("Environment files")
struct EnvironmentFileTests {
    private func file(_ bytes: [UInt8]) throws -> EnvironmentFile {
        try EnvironmentFile(try SecretBytes(copying: bytes.span.bytes))
    }

    private func values(_ text: String) throws -> [String] {
        let file = try file(Array(text.utf8))
        return try file.assignments.map { assignment in
            let value = try file.value(of: assignment)
            let bytes = (0..<value.count).map { value.bytes.octets[$0] }
            return "\(assignment.line) \(assignment.name.text)=\(String(decoding: bytes, as: UTF8.self))"
        }
    }

    private func refusal(_ text: String) -> EnvironmentFile.ParseError? {
        do {
            _ = try file(Array(text.utf8))
            return nil
        } catch {
            return error as? EnvironmentFile.ParseError
        }
    }

    @Test(
        "E6: a line sets a variable",
        arguments: [
            ("A=b", "1 A=b"), ("A=b\n", "1 A=b"), ("\n\n# comment\nA=b", "4 A=b"), ("  A=b  ", "1 A=b"),
            ("A=b\r\n", "1 A=b"),
            ("export A=b", "1 A=b"), ("export\tA=b", "1 A=b"), ("exported=b", "1 exported=b"),
            ("export=b", "1 export=b"),
            ("_a1=b=c", "1 _a1=b=c"), ("A=", "1 A="), ("A=''", "1 A="), ("A=\"\"", "1 A="), ("A= b c ", "1 A=b c"),
            ("A=b # c", "1 A=b"), ("A=b\t# c", "1 A=b"), ("A=b#c", "1 A=b#c"), ("A=#b", "1 A=#b"), ("A= # c", "1 A="),
            ("A='b # c' # d", "1 A=b # c"), ("A='b'   ", "1 A=b"), ("A='b'\r\n", "1 A=b"),
            ("A='\\n$x`y`'", "1 A=\\n$x`y`"),
            (#"A="b\n\t\\\"c""#, "1 A=b\n\t\\\"c"), (#"A="$HOME `id` 'x'""#, "1 A=$HOME `id` 'x'"),
            (#"A=b"c'd\n"#, #"1 A=b"c'd\n"#),
            ("\u{FEFF}A=b", "1 A=b"), ("A=keychain:s/x", "1 A=keychain:s/x"), ("A=ä", "1 A=ä"),
        ])
    func line(_ text: String, _ expected: String) throws {
        #expect(try values(text) == [expected])
    }

    @Test("E6: all lines are kept in their order, also of one name")
    func order() throws {
        #expect(try values("A=1\nB=2\nA=3\n") == ["1 A=1", "2 B=2", "3 A=3"])
        #expect(try values("") == [])
        #expect(try values("\r\n  \n#\n") == [])
    }

    @Test("E6: bytes that are not UTF-8 stay unchanged")
    func bytes() throws {
        let file = try file([0x41, 0x3D, 0xFF, 0xFE])
        let value = try file.value(of: try #require(file.assignments.first))
        #expect((0..<value.count).map { value.bytes.octets[$0] } == [0xFF, 0xFE])
    }

    @Test(
        "E6: a malformed line is refused with its number",
        arguments: [
            ("A", 1, .noSign), ("A=b\nexport A", 2, .noSign), ("=b", 1, .name), ("1A=b", 1, .name), ("A B=c", 1, .name),
            ("A =b", 1, .name), ("A.B=c", 1, .name), ("Ä=b", 1, .name), ("\n\nexport =b", 3, .name),
            ("A='b", 1, .quote),
            ("A=\"b", 1, .quote), ("A='b\nc'", 1, .quote), ("A='b'c", 1, .quote), ("A='b'#c", 1, .quote),
            ("A=\"b\" c", 1, .quote),
            (#"A="\x""#, 1, .escape), (#"A="\"#, 1, .escape), (#"A="b\""#, 1, .quote), ("A=b\u{0}c", 1, .zero),
            ("A=b\nB=c\u{0}", 2, .zero),
        ] as [(String, Int, EnvironmentFile.ParseError.Reason)])
    func malformed(_ text: String, _ line: Int, _ reason: EnvironmentFile.ParseError.Reason) {
        #expect(refusal(text) == EnvironmentFile.ParseError(line: line, reason: reason))
    }

    @Test("E6: the names of variables are those of POSIX")
    func names() {
        for name in ["A", "_", "a1", "HTTP_PROXY"] { #expect(VariableName(name)?.text == name) }
        for name in ["", "1", "1A", "A-B", "A B", "A=", "Ä", "A\u{0}"] { #expect(VariableName(name) == nil) }
    }
}
