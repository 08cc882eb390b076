/// Whether a mount exists, according to the text of /proc/self/mountinfo.
public struct MountPresence: Sendable {
    private let identifier: Int
    private let hadRoot: Bool

    /// Creates the rule for a mount that existed earlier.
    ///
    /// - Parameter text: The present table of this process.
    public init(_ identifier: Int, in text: [UInt8]) {
        self.identifier = identifier
        hadRoot = Self.hasRoot(text)
    }

    /// Whether the mount is not in the table. A table without the entry of the root directory, which it had before, proves no unmount:
    /// the root directory of the process is being replaced (pivot_root(2)).
    public func isMissing(in text: [UInt8]) -> Bool {
        guard !hasMount(text) else { return false }
        return !hadRoot || Self.hasRoot(text)
    }

    /// A line begins with the ID. Compared as bytes, because the table may be long and change often.
    private func hasMount(_ text: [UInt8]) -> Bool {
        let start = Array("\(identifier) ".utf8)
        return text.split(separator: UInt8(ascii: "\n")).contains { $0.starts(with: start) }
    }

    private static func hasRoot(_ text: [UInt8]) -> Bool { MountTable(parsing: text).mount(at: "/") != nil }
}
