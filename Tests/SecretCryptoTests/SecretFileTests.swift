import Glibc
import SecretCrypto
import Testing

/// L5: key files, read whole and never waited for.
@Suite struct SecretFileTests {
    private func withDirectory<T>(_ body: (String) throws -> T) throws -> T {
        var template = Array("/tmp/secret-file-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink(path + "/file")
            rmdir(path)
        }
        return try body(path)
    }

    private func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fchmod(descriptor, mode) == 0)
    }

    private func error(_ path: String, limit: Int = 100, mustBePrivate: Bool = false) -> SecretFileError? {
        do throws(SecretFileError) {
            _ = try SecretFile.read(path, limit: limit, mustBePrivate: mustBePrivate).take().count
            return nil
        } catch { return error }
    }

    @Test("every byte, a trailing newline too; one more than the limit is too long")
    func contents() throws {
        try withDirectory { directory in
            let file = directory + "/file"
            let bytes = Array("all of it\n".utf8)
            try write(bytes, to: file)
            #expect(plain(try SecretFile.read(file, limit: bytes.count).take()) == bytes)
            #expect(error(file, limit: bytes.count - 1) == .tooLong)
            try write([], to: file)
            #expect(try SecretFile.read(file, limit: 100).take().count == 0)
        }
    }

    @Test("only regular files: a pipe without a writer, a device without an end, a directory")
    func kinds() throws {
        try withDirectory { directory in
            let pipe = directory + "/file"
            try #require(mkfifo(pipe, 0o600) == 0)
            for path in [pipe, "/dev/zero", "/dev/null", directory] { #expect(error(path) == .notRegular, "\(path)") }
            #expect(error(directory + "/none") == .crypto(.io(ENOENT)))
        }
    }

    @Test(
        "what others may read is told, or refused where it must be private",
        arguments: [(0o600, false, false), (0o640, true, true), (0o604, true, true), (0o622, false, true)]
            as [(mode_t, Bool, Bool)])
    func exposure(mode: mode_t, isExposed: Bool, isRefused: Bool) throws {
        try withDirectory { directory in
            let file = directory + "/file"
            try write([1, 2], to: file, mode: mode)
            let told = try SecretFile.read(file, limit: 100).isExposed
            #expect(told == isExposed)
            #expect(error(file, mustBePrivate: true) == (isRefused ? .notPrivate : nil))
        }
    }
}
