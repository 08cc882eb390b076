/// Whether a mount exists, according to the text of /proc/self/mountinfo.
public struct MountPresence: Sendable {
    private let mount: MountTable.Entry
    private let hadRoot: Bool

    /// Creates the rule for a mount that existed earlier.
    ///
    /// - Parameter text: The present table of this process.
    public init(_ mount: MountTable.Entry, in text: [UInt8]) {
        self.mount = mount
        hadRoot = Self.hasRoot(text)
    }

    /// Whether the mount is not in the table. A table without the entry of the root directory, which it had before, proves no unmount:
    /// the root directory of the process is being replaced (pivot_root(2)).
    public func isMissing(in text: [UInt8]) -> Bool {
        guard !hasMount(text) else { return false }
        return !hadRoot || Self.hasRoot(text)
    }

    /// A line begins with the ID, the parent's ID and the device. The kernel gives the ID of a mount that was removed to the next one,
    /// but the device only when no other view of the file system is left. Compared as bytes, because the table may be long and change
    /// often.
    private func hasMount(_ text: [UInt8]) -> Bool {
        let start = Array("\(mount.identifier) ".utf8)
        let device = Array(mount.device.utf8)
        return text.split(separator: UInt8(ascii: "\n")).contains { line in
            line.starts(with: start)
                && line.split(separator: UInt8(ascii: " "), maxSplits: 3).dropFirst(2).first?.elementsEqual(device)
                    == true
        }
    }

    private static func hasRoot(_ text: [UInt8]) -> Bool { MountTable(parsing: text).mount(at: "/") != nil }
}
