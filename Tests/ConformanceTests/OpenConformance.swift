import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// open(2): every combination of the flags that the tree receives, on every kind of name.
@Suite struct OpenConformance {
    private static let accesses: [OpenFlags] = [[], .writeOnly, .readWrite]

    private static let combinations: [OpenFlags] = (0..<16).map { bits in
        let flags: [OpenFlags] = [.create, .exclusive, .truncate, .append]
        return OpenFlags(flags.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element))
    }

    @Test("F1, F2: the result of open, and the file's value afterwards", arguments: BackEnd.available)
    func combinations(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            var number = 0
            for subject in Subject.allCases {
                for flags in Self.accesses.flatMap({ access in Self.combinations.map { access.union($0) } }) {
                    number += 1
                    let path = try subject.prepare(client, "o\(number)")
                    try check(client, subject, path, flags)
                    client.clear(path)
                }
            }
        }
    }

    private func check(_ client: any FileClient, _ subject: Subject, _ path: String, _ flags: OpenFlags) throws {
        let comment = Comment(rawValue: "\(subject) with flags \(String(flags.rawValue, radix: 8))")
        let wanted = error(subject, flags)
        var descriptor = -1
        let got = client.errno { client throws(Errno) in descriptor = try client.open(path, flags) }
        #expect(got == wanted, comment)
        guard got == nil else { return #expect(client.exists(path) == (subject != .missing), comment) }
        if !subject.isDirectory { try use(client, descriptor, subject, flags, comment) }
        try client.close(descriptor)
        guard !subject.isDirectory else { return }
        #expect(try client.text(path) == contents(subject, flags), comment)
    }

    /// open(2), ERRORS.
    private func error(_ subject: Subject, _ flags: OpenFlags) -> Errno? {
        guard subject != .missing else { return flags.contains(.create) ? nil : .noSuchFileOrDirectory }
        if flags.isSuperset(of: [.create, .exclusive]) { return .fileExists }
        guard subject.isDirectory else { return nil }
        return flags.isWritable || !flags.isDisjoint(with: [.create, .truncate]) ? .isDirectory : nil
    }

    private func use(
        _ client: any FileClient, _ descriptor: Int, _ subject: Subject, _ flags: OpenFlags, _ comment: Comment
    ) throws {
        let before = subject == .file && !flags.contains(.truncate) ? "0123456789" : ""
        var bytes: [UInt8] = []
        let read = client.errno { client throws(Errno) in bytes = try client.pread(descriptor, 20, at: 0) }
        #expect(read == (flags.isReadable ? nil : .badFileDescriptor), comment)
        // A descriptor that only reads has the value of its open; O_TRUNC makes it one of those that write.
        if flags.isReadable { #expect(String(decoding: bytes, as: UTF8.self) == before, comment) }
        let written = client.errno { client throws(Errno) in try client.write(descriptor, Array("W".utf8)) }
        #expect(written == (flags.isWritable ? nil : .badFileDescriptor), comment)
        let cut = client.errno { client throws(Errno) in try client.ftruncate(descriptor, 3) }
        #expect(cut == (flags.isWritable ? nil : .invalidArgument), comment)
    }

    /// After `W` was written and the file cut to three bytes, where that is allowed.
    private func contents(_ subject: Subject, _ flags: OpenFlags) -> String {
        let before = subject == .file && !flags.contains(.truncate) ? "0123456789" : ""
        guard flags.isWritable else { return before }
        if before.isEmpty { return "W\0\0" }
        return flags.contains(.append) ? "012" : "W12"
    }
}
