internal import LinuxSupport

/// Candidates for a path: the entries of the directory that the typed part names.
enum PathCompletion {
    /// Reads the directory: may block if its file system does. Returns nothing if it cannot be listed completely.
    ///
    /// - Parameters:
    ///   - typed: The typed part, without quotes. A leading `~/` is kept.
    ///   - home: The directory that `~/` represents.
    /// - Returns: Directories end in a slash. A name that would be taken for an option starts with `./`.
    static func candidates(for typed: String, home: String, onlyDirectories: Bool = false) -> [String] {
        if typed == "~" { return ["~/"] }
        let slash = typed.lastIndex(of: "/")
        let prefix = slash.map { String(typed[...$0]) } ?? ""
        let start = slash.map { String(typed[typed.index(after: $0)...]) } ?? typed
        guard let directory = directory(prefix, home),
            let entries = try? DirectoryListing.entries(of: directory)
        else { return [] }
        return entries.filter { entry in
            entry.name.utf8.starts(with: start.utf8) && (start.hasPrefix(".") || !entry.name.hasPrefix("."))
                && (entry.isDirectory || !onlyDirectories)
        }.map { entry in
            let word = prefix + entry.name + (entry.isDirectory ? "/" : "")
            return word.hasPrefix("-") || (prefix.isEmpty && word.hasPrefix("~")) ? "./" + word : word
        }.sorted()
    }

    /// Returns the directory of a typed prefix; nil for `~user/`, which is not expanded.
    private static func directory(_ prefix: String, _ home: String) -> String? {
        if prefix.isEmpty { return "." }
        guard prefix.hasPrefix("~") else { return prefix }
        return prefix.hasPrefix("~/") ? home + prefix.dropFirst() : nil
    }
}
