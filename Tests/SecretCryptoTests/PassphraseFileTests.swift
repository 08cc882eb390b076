import Glibc
import SecretCrypto
import Testing

@Suite struct PassphraseFileTests {
    /// A file of `bytes` while `body` runs.
    private func withFile<T>(
        _ bytes: [UInt8], mode: mode_t = 0o600, _ body: (String) throws -> T
    ) throws -> T {
        var template = Array("/tmp/passphrase-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink(path)
            close(descriptor)
        }
        try #require(fchmod(descriptor, mode) == 0 && write(descriptor, bytes, bytes.count) == bytes.count)
        return try body(path)
    }

    @Test(
        "One trailing newline is dropped, and nothing else",
        arguments: [
            ("secret\n", "secret"), ("secret", "secret"), ("secret\n\n", "secret\n"), ("secret\r\n", "secret\r"),
            (" two words \n", " two words "), ("\nx", "\nx"), ("pass\u{0}word\n", "pass\u{0}word"), ("ü\n", "ü"),
        ])
    func newlines(text: String, passphrase: String) throws {
        try withFile(Array(text.utf8)) { path in
            let input = try PassphraseReader.read(file: path)
            #expect(plain(input.take()) == Array(passphrase.utf8))
        }
    }

    @Test(
        "An empty file is refused, and a passphrase that is too long is not truncated",
        arguments: [0, 1, 65_536, 65_537, 65_538, 100_000])
    func sizes(count: Int) throws {
        let bytes = [UInt8](repeating: 0x0a, count: min(count, 1)) + [UInt8](repeating: 0x61, count: max(0, count - 1))
        try withFile(Array(bytes.reversed())) { path in
            let error: PassphraseError? = {
                do throws(PassphraseError) {
                    let got = try PassphraseReader.read(file: path).take().count
                    return got == count - 1 ? nil : .endOfFile
                } catch { return error }
            }()
            #expect(error == (count < 2 ? .empty : count <= 65_537 ? nil : .tooLong))
        }
        try withFile([UInt8](repeating: 0x61, count: 65_537)) { path in
            _ = #expect(throws: PassphraseError.tooLong) { _ = try PassphraseReader.read(file: path) }
        }
    }

    @Test(
        "A file that others may read is reported",
        arguments: [(0o600, false), (0o640, true), (0o604, true), (0o622, false), (0o400, false)] as [(mode_t, Bool)])
    func exposure(mode: mode_t, isExposed: Bool) throws {
        try withFile([0x61], mode: mode) { path in
            let isExposed = try PassphraseReader.read(file: path).isExposed
            #expect(isExposed == isExposed)
        }
    }

    @Test func missingFilesAndDirectories() {
        #expect(throws: PassphraseError.crypto(.io(ENOENT))) { _ = try PassphraseReader.read(file: "/nonexistent/x") }
        #expect(throws: PassphraseError.crypto(.io(EISDIR))) { _ = try PassphraseReader.read(file: "/") }
    }

    @Test func descriptorsStayOpen() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        try #require(write(ends[1], "from a pipe\n", 12) == 12)
        close(ends[1])
        let got = try PassphraseReader.read(descriptor: ends[0])
        #expect(plain(got) == Array("from a pipe".utf8))
        #expect(fcntl(ends[0], F_GETFD) >= 0)
        close(ends[0])
    }

    @Test("`-` is standard input")
    func standardInput() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0, write(ends[1], "typed\n", 6) == 6, dup2(ends[0], 0) == 0 else { exit(1) }
            close(ends[1])
            guard let got = try? PassphraseReader.read(file: "-") else { exit(2) }
            guard !got.isExposed, plain(got.take()) == Array("typed".utf8) else { exit(3) }
            exit(0)
        }
    }
}
