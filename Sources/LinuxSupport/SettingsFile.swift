import Glibc
public import SystemPackage

/// A file of the user with lines `name = value`. Empty lines and lines that begin with `#` are ignored; blanks around name and value do not
/// count.
public struct SettingsFile: Sendable {
    public struct Setting: Hashable, Sendable {
        public let name: String
        public let value: String
        /// From 1.
        public let line: Int

        public init(name: String, value: String, line: Int) {
            (self.name, self.value, self.line) = (name, value, line)
        }

        /// Returns the value as an absolute path, in which `~/` is the home directory; nil for a relative path.
        public func path(home: String) -> String? {
            if value == "~" { return home }
            if value.utf8.starts(with: "~/".utf8) {
                return home + "/" + String(decoding: value.utf8.dropFirst(2), as: UTF8.self)
            }
            return value.utf8.first == UInt8(ascii: "/") ? value : nil
        }
    }

    /// The reason why the file, or a line of it, is not used.
    public enum Problem: Hashable, Sendable {
        case unreadable(Errno)
        case notRegularFile
        /// Another user may change it: by its owner or its mode.
        case notPrivate
        case tooLong
        case notText
        case malformed(line: Int)
    }

    public let path: String
    /// The valid lines. Names may occur several times.
    public let settings: [Setting]
    public let problems: [Problem]

    /// The greatest size in bytes.
    private static let limit = 64 << 10

    /// Reads the file. A file that does not exist has no settings.
    public init(path: String) {
        self.path = path
        do throws(Failure) {
            (settings, problems) = Self.parse(try Self.text(of: path))
        } catch {
            (settings, problems) = ([], [error.problem])
        }
    }

    /// The settings of keychainfs: `${XDG_CONFIG_HOME:-~/.config}/keychainfs/config`.
    public init(_ directories: UserDirectories) {
        self.init(path: directories.configuration + "/keychainfs/config")
    }

    private struct Failure: Error { let problem: Problem }

    // MARK: - Reading

    private static func text(of path: String) throws(Failure) -> String {
        let bytes: [UInt8]
        do {
            // Without waiting for the writer of a pipe.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .nonBlocking])
            defer { try? file.close() }
            try check(file)
            bytes = try contents(of: file)
        } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
            return ""
        } catch {
            throw (error as? Failure) ?? Failure(problem: .unreadable((error as? Errno) ?? .ioError))
        }
        guard bytes.count <= limit else { throw Failure(problem: .tooLong) }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw Failure(problem: .notText)
        }
        return text
    }

    private static func check(_ file: FileDescriptor) throws {
        let status = try Stat(file)
        guard status.type == .regular else { throw Failure(problem: .notRegularFile) }
        let isWritable = !status.permissions.isDisjoint(with: [.groupWrite, .otherWrite])
        guard !isWritable, [0, geteuid()].contains(status.userID.rawValue) else { throw Failure(problem: .notPrivate) }
    }

    private static func contents(of file: FileDescriptor) throws -> [UInt8] {
        var contents: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while contents.count <= limit {
            let count = try unsafe part.withUnsafeMutableBytes { bytes in try unsafe file.read(into: bytes) }
            guard count > 0 else { break }
            contents += part[..<count]
        }
        return contents
    }

    // MARK: - Lines

    private static func parse(_ text: String) -> ([Setting], [Problem]) {
        var settings: [Setting] = []
        var problems: [Problem] = []
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = trimmed(line)
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            if let setting = setting(line, number: index + 1) {
                settings.append(setting)
            } else {
                problems.append(.malformed(line: index + 1))
            }
        }
        return (settings, problems)
    }

    private static func setting(_ line: Substring.UTF8View, number: Int) -> Setting? {
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (name, value) = (trimmed(line[..<sign]), trimmed(line[line.index(after: sign)...]))
        guard !name.isEmpty, !value.isEmpty else { return nil }
        return Setting(name: String(Substring(name)), value: String(Substring(value)), line: number)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let blanks: [UInt8] = [0x20, 0x09, 0x0D]
        var text = text.drop { blanks.contains($0) }
        while let last = text.last, blanks.contains(last) { text = text.dropLast() }
        return text
    }
}
