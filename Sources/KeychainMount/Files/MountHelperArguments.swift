/// The command lines with which mount(8) has a keychain mounted, as words of `keychainfs mount`.
///
/// `mount.fuse.keychainfs SOURCE MOUNTPOINT [-sfnvN] [-o OPTIONS] [-t TYPE]` is mount(8)'s own call of a helper of that name
/// ("EXTERNAL HELPERS" there); `keychainfs SOURCE MOUNTPOINT -o OPTIONS` is what /sbin/mount.fuse runs (mount.fuse.c).
package struct MountHelperArguments: Sendable {
    /// What follows the program's name; nil if mount(8) has not called.
    package let arguments: [String]?

    /// `words`: all of the command line; `commands`: the names of this program's own commands, asked for where it matters.
    package init(_ words: [String], commands: @autoclosure () -> [String]) {
        let name = words.first?.split(separator: "/").last.map(String.init) ?? ""
        let rest = Array(words.dropFirst())
        let isHelper = name.hasPrefix("mount.")
        arguments = isHelper || Self.isFromMountFuse(rest, commands) ? ["mount-helper"] + rest : nil
    }

    /// SOURCE MOUNTPOINT -o OPTIONS: a keychain that is called like a command is named by its path.
    private static func isFromMountFuse(_ words: [String], _ commands: () -> [String]) -> Bool {
        guard words.count == 4, words[2] == "-o", !words[0].hasPrefix("-"), !words[1].hasPrefix("-") else {
            return false
        }
        return !commands().contains(words[0])
    }
}
