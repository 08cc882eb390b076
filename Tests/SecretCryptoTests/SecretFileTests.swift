import Glibc
import SecretCrypto
import Testing

/// L5: key files are read completely, without blocking.
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
        "a file that others may read is reported, or refused where it must be private",
        arguments: [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o644, true)] as [(mode_t, Bool)])
    func exposure(mode: mode_t, isExposed: Bool) throws {
        try withDirectory { directory in
            let file = directory + "/file"
            try write([1, 2], to: file, mode: mode)
            let reported = try SecretFile.read(file, limit: 100).isExposed
            #expect(reported == isExposed)
            #expect(error(file, mustBePrivate: true) == (isExposed ? .notPrivate : nil))
        }
    }

    @Test("L4: a file that others may write is refused", arguments: [0o620, 0o602, 0o666] as [mode_t])
    func writers(mode: mode_t) throws {
        try withDirectory { directory in
            let file = directory + "/file"
            try write([1, 2], to: file, mode: mode)
            #expect(error(file) == .othersMayWrite)
            #expect(error(file, mustBePrivate: true) == .notPrivate)
            try write([1, 2], to: file)
            #expect(error(file) == nil)
        }
    }

    @Test("L4: the owner, the group and others are checked; root and the user of the process are trusted")
    func others() {
        for owner in [0, 1000] as [UInt32] {
            for (mode, write, read, isPrivate) in [
                (0o600, false, false, true), (0o4700, false, false, true), (0o610, false, false, false),
                (0o640, false, true, false), (0o604, false, true, false), (0o620, true, false, false),
                (0o602, true, false, false),
            ] as [(UInt32, Bool, Bool, Bool)] {
                let exposure = FileExposure(mode: mode, owner: owner, user: 1000)
                #expect(exposure.othersMayWrite == write && exposure.othersMayRead == read, "\(mode) \(owner)")
                #expect(exposure.isPrivate == isPrivate, "\(mode) \(owner)")
            }
        }
        let foreign = FileExposure(mode: 0o400, owner: 1001, user: 1000)
        #expect(foreign.othersMayWrite && !foreign.othersMayRead && !foreign.isPrivate)
        #expect(FileExposure(mode: 0o600, owner: 1000, user: 0).othersMayWrite)
        #expect(FileExposure(path: "/none") == nil)
    }

    @Test("a symbolic link is followed, or refused")
    func links() throws {
        try withDirectory { directory in
            let (file, link) = (directory + "/file", directory + "/link")
            try write([1, 2], to: file)
            try #require(symlink(file, link) == 0)
            defer { unlink(link) }
            let followed = try SecretFile.read(link, limit: 100).take()
            #expect(plain(followed) == [1, 2])
            #expect(throws: SecretFileError.crypto(.io(ELOOP))) {
                _ = try SecretFile.read(link, limit: 100, followsLinks: false).take().count
            }
        }
    }
}
