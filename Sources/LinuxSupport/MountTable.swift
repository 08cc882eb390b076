public import SystemPackage

/// The mounts that this process sees (`/proc/self/mountinfo`, proc(5)). Reading the table accesses no mount.
public struct MountTable: Sendable {
    /// A line of the table.
    public struct Entry: Hashable, Sendable {
        public let identifier: Int
        /// The ID of the mount that contains the mount point.
        public let parent: Int
        /// The minor number of the file system's device: for FUSE the number of the connection in fusectl.
        public let deviceMinor: Int
        /// The device number, such as `8:3`: its name in /sys/dev/block.
        public let device: String
        /// The directory or file of the file system that is visible at the mount point: `/`, or a part of it in a bind mount.
        public let root: String
        /// The mount point, relative to the root of this process.
        public let path: String
        /// The type: `fuse.keychainfs`, `ext4`, …
        public let type: String
        public let source: String
        public let isReadOnly: Bool
        /// The options of the file system, the same for all its mounts (`rw`, `allow_other`, …).
        public let options: [String]

        /// Whether this is the mount point. Compared by bytes, because the kernel does not normalize names.
        public func isMounted(at path: String) -> Bool { self.path.utf8.elementsEqual(path.utf8) }

        /// The user who has mounted a FUSE file system, the only one whom it serves without `allow_other`. An ID of the
        /// user namespace of the mount (`user_id=`, fuse(4)). Nil for other file systems.
        public var fuseUserID: UInt32? {
            guard type == "fuse" || type.hasPrefix("fuse.") else { return nil }
            return options.lazy.compactMap { $0.hasPrefix("user_id=") ? UInt32($0.dropFirst("user_id=".count)) : nil }
                .first
        }
    }

    /// The entries in the order of mounting. Of several at one path the last one is visible.
    public let entries: [Entry]

    /// Reads the mounts that this process sees.
    ///
    /// - Throws: The errors of reading the table.
    public static func current() throws(Errno) -> MountTable {
        MountTable(parsing: try KernelFile.contents(of: "/proc/self/mountinfo"))
    }

    /// Parses a table. Ignores invalid lines.
    public init(parsing text: [UInt8]) {
        entries = text.split(separator: UInt8(ascii: "\n")).compactMap { Entry(line: $0) }
    }

    /// Returns the mount that is visible at `path`, which must be absolute and without symbolic links.
    public func mount(at path: String) -> Entry? {
        let path = Self.withoutTrailingSlash(path)
        return entries.last { $0.isMounted(at: path) }
    }

    /// Returns the mount that contains `path`, which must be absolute and without symbolic links.
    public func mount(holding path: String) -> Entry? {
        let holders = entries.filter { entry in
            entry.isMounted(at: path) || path.utf8.starts(with: (entry.path == "/" ? "/" : entry.path + "/").utf8)
        }
        let deepest = holders.map(\.path.utf8.count).max()
        return holders.last { $0.path.utf8.count == deepest }
    }

    /// Returns the mount with that ID, wherever it has been moved to.
    public func mount(identifier: Int) -> Entry? {
        entries.first { $0.identifier == identifier }
    }

    /// The other mounts of the same file system, for example bind mounts. The kernel reuses the device number of a file system
    /// that has been unmounted, so the result is only meaningful for an entry of this table.
    public func otherViews(of entry: Entry) -> [Entry] {
        entries.filter { $0.device == entry.device && $0.identifier != entry.identifier }
    }

    /// Returns the mounts whose mount points are in a mount: it cannot be unmounted while they exist.
    public func mounts(in entry: Entry) -> [Entry] {
        entries.filter { $0.parent == entry.identifier && $0.identifier != entry.identifier }
    }

    private static func withoutTrailingSlash(_ path: String) -> String {
        path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}

extension MountTable.Entry {
    /// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
    init?(line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " ")).map(Self.decoded)
        guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 2,
            let identifier = Int(fields[0]), let parent = Int(fields[1]),
            let minor = Int(fields[2].drop { $0 != ":" }.dropFirst())
        else { return nil }
        self.init(
            identifier: identifier, parent: parent, deviceMinor: minor, device: fields[2], root: fields[3],
            path: fields[4],
            type: fields[dash + 1], source: fields[dash + 2],
            isReadOnly: fields[5].split(separator: ",").first == "ro",
            options: fields.dropFirst(dash + 3).first?.split(separator: ",").map(String.init) ?? [])
    }

    /// Decodes octal escapes, which represent space, tab, newline, backslash and `#`.
    private static func decoded(_ field: ArraySlice<UInt8>) -> String {
        guard field.contains(UInt8(ascii: "\\")) else { return String(decoding: field, as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, let code = octal(digits) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func octal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
    }
}
