/// The command lines with which mount(8) mounts a keychain, as arguments of `keychainfs mount`.
///
/// `mount.fuse.keychainfs SOURCE MOUNTPOINT [-sfnvN] [-o OPTIONS] [-t TYPE]` is mount(8)'s call of a helper with that
/// name ("EXTERNAL HELPERS" there); `keychainfs SOURCE MOUNTPOINT -o OPTIONS` is the command of /sbin/mount.fuse
/// (mount.fuse.c).
package struct MountHelperArguments: Sendable {
    /// The arguments after the program's name; nil if mount(8) is not the caller.
    package let arguments: [String]?

    /// - Parameters:
    ///   - words: The complete command line.
    ///   - commands: The names of this program's commands, evaluated if they matter.
    package init(_ words: [String], commands: @autoclosure () -> [String]) {
        let name = words.first?.split(separator: "/").last.map(String.init) ?? ""
        let rest = Array(words.dropFirst())
        let isHelper = name.hasPrefix("mount.")
        arguments = isHelper || Self.isFromMountFuse(rest, commands) ? ["mount-helper"] + rest : nil
    }

    /// Whether it is SOURCE MOUNTPOINT -o OPTIONS. A keychain with the name of a command must be given by a path.
    private static func isFromMountFuse(_ words: [String], _ commands: () -> [String]) -> Bool {
        guard words.count == 4, words[2] == "-o", !words[0].hasPrefix("-"), !words[1].hasPrefix("-") else {
            return false
        }
        return !commands().contains(words[0])
    }
}
