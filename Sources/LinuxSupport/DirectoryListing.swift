import Glibc
public import SystemPackage

/// The entries of a directory with their types, without a stat(2) of each (readdir(3)).
public enum DirectoryListing {
    public struct Entry: Hashable, Sendable {
        public let name: String
        /// Whether the entry is a directory. For a symbolic link, and on a file system without types in listings,
        /// whether it refers to one (stat(2)).
        public let isDirectory: Bool
    }

    /// Returns all entries except `.` and `..`, and except names that are not UTF-8.
    ///
    /// - Throws: What opendir(3) or readdir(3) set. A listing with an error at its end throws, too.
    public static func entries(of path: String) throws(Errno) -> [Entry] {
        let (entries, error) = try available(in: path)
        if let error { throw error }
        return entries
    }

    /// Returns the entries up to the end or an error of readdir(3), and that error.
    ///
    /// - Throws: What opendir(3) set.
    public static func available(in path: String) throws(Errno) -> (entries: [Entry], error: Errno?) {
        guard let directory = unsafe opendir(path) else { throw Errno(rawValue: errno) }
        defer { unsafe closedir(directory) }
        var entries: [Entry] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(directory) else {
                return (entries, errno == 0 ? nil : Errno(rawValue: errno))
            }
            let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self), name != ".", name != ".." else { continue }
            let type = unsafe Int(entry.pointee.d_type)
            entries.append(Entry(name: name, isDirectory: isDirectory(type, path + "/" + name)))
        }
    }

    private static func isDirectory(_ type: Int, _ path: String) -> Bool {
        guard type == Int(DT_LNK) || type == Int(DT_UNKNOWN) else { return type == Int(DT_DIR) }
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
