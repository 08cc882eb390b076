import FileSystemCore
import FileSystemTesting
import SystemPackage
import Testing

/// rename(2) and renameat2(2): every source onto every target, with every flag.
@Suite struct RenameConformance {
    /// The target of a rename.
    enum Target: String, CaseIterable, Sendable {
        case newName, newDirectoryName, otherDirectory, itself, empty, file, directory, fullDirectory

        var subject: Subject? {
            switch self {
            case .empty: .empty
            case .file: .file
            case .directory: .directory
            case .fullDirectory: .fullDirectory
            default: nil
            }
        }

        func prepare(_ client: any FileClient, _ name: String, source: String) throws -> String {
            if let subject { return try subject.prepare(client, name) }
            switch self {
            case .newDirectoryName: return "/generic-passwords/" + name
            case .otherDirectory: return RenameConformance.other + "/" + name
            case .itself: return source
            default: return Fixture.directory + "/" + name
            }
        }
    }

    static let other = "/generic-passwords/other"
    private static let flags: [RenameFlags] = [[], .noReplace, .exchange, [.noReplace, .exchange], .init(rawValue: 8)]

    @Test("F5, T4, T5: every source onto every target", arguments: BackEnd.available)
    func combinations(_ backEnd: BackEnd) throws {
        try backEnd.run { client, _ in
            try client.mkdir(Self.other)
            var number = 0
            for source in Subject.allCases {
                for target in Target.allCases {
                    for flags in Self.flags {
                        number += 1
                        let from = try source.prepare(client, "from\(number)")
                        let to = try target.prepare(client, "to\(number)", source: from)
                        try check(client, source, from, target, to, flags)
                        client.clear(from)
                        client.clear(to)
                    }
                }
            }
        }
    }

    private func check(
        _ client: any FileClient, _ source: Subject, _ from: String, _ target: Target, _ to: String,
        _ flags: RenameFlags
    ) throws {
        let comment = Comment(rawValue: "\(source) to \(target) with \(flags.rawValue)")
        let before = (inode(client, from), inode(client, to))
        let wanted = error(source, target, flags)
        let got = client.errno { client throws(Errno) in try client.rename(from, to, flags) }
        #expect(got == wanted, comment)
        let after = (inode(client, from), inode(client, to))
        switch got {
        case .some: #expect(after == before, "nothing has changed: \(comment)")
        case nil where target == .itself: #expect(after == before, comment)
        case nil where flags == .exchange: #expect(after == (before.1, before.0), comment)
        case nil: #expect(after.0 == nil && after.1 == before.0, comment)
        }
    }

    private func inode(_ client: any FileClient, _ path: String) -> UInt64? {
        (try? client.stat(path))?.inode.rawValue
    }

    /// rename(2), ERRORS, in the order in which the kernel asks; EPERM is the tree's own (Differences: Directories).
    private func error(_ source: Subject, _ target: Target, _ flags: RenameFlags) -> Errno? {
        if flags == Self.flags[3] || flags == Self.flags[4] { return .invalidArgument }
        if source == .missing { return .noSuchFileOrDirectory }
        let exists = target == .itself || target.subject != nil
        if flags == .noReplace, exists { return .fileExists }
        if flags == .exchange, !exists { return .noSuchFileOrDirectory }
        if target == .itself { return nil }
        let isDirectory = target.subject.map(\.isDirectory) ?? (target == .newDirectoryName)
        guard source.isDirectory == isDirectory else {
            guard exists, flags != .exchange else { return .notPermitted }
            return source.isDirectory ? .notDirectory : .isDirectory
        }
        return target == .fullDirectory && flags != .exchange ? .directoryNotEmpty : nil
    }
}
