import KeychainConnection
import SystemPackage

/// Candidates for the name of an item, in each of its forms (contract, E17).
enum ItemCompletion {
    /// Reads a directory of the mount: may block if its daemon does not respond.
    ///
    /// - Parameters:
    ///   - typed: The typed part, without quotes.
    ///   - mountPoint: The default mount point.
    ///   - directory: The working directory.
    ///   - home: The directory that `~/` represents.
    static func candidates(for typed: String, mountPoint: String, directory: String, home: String) -> [String] {
        if isPath(typed, directory: directory) { return PathCompletion.candidates(for: typed, home: home) }
        guard MountedKeychains.resolve(FilePath(mountPoint)) != nil else { return [] }
        let kept = typed.hasPrefix(ItemName.prefix) ? ItemName.prefix : ""
        return names(for: String(typed.dropFirst(kept.count)), mountPoint: mountPoint).map { name in
            kept.isEmpty && needsPrefix(name) ? ItemName.prefix + name : kept + name
        }.sorted()
    }

    /// Whether a name is a path of a file: with the form of one, or within a mount.
    static func isPath(_ name: String, directory: String) -> Bool {
        if ItemName.isPath(name) || name.hasPrefix("~") { return true }
        return !name.hasPrefix(ItemName.prefix) && MountedKeychains.contain(directory)
    }

    /// Whether a name alone would be taken for an option, a home directory or another form.
    private static func needsPrefix(_ name: String) -> Bool {
        name.hasPrefix("-") || name.hasPrefix("~") || name.hasPrefix(ItemName.prefix)
    }

    private static func names(for typed: String, mountPoint: String) -> [String] {
        guard !typed.utf8.contains(UInt8(ascii: "/")) else {
            let path = ItemName.pathFromRoot(typed)
            return entries(mountPoint + "/" + path.dropLast(typed.count), typed)
        }
        let services = entries(mountPoint + "/" + ItemName.pathFromRoot(""), typed)
        let fixed = entries(mountPoint + "/", typed)
        return services.filter { !ItemName.fixed.contains(String($0.dropLast())) }
            + fixed.filter { ItemName.fixed.contains(String($0.dropLast())) }
    }

    /// Returns the entries of a directory whose names begin with the last part of `typed`, with the rest of it.
    private static func entries(_ directory: String, _ typed: String) -> [String] {
        PathCompletion.candidates(for: directory + typed, home: "").compactMap { word in
            String(word.utf8.dropFirst(directory.utf8.count))
        }
    }
}
