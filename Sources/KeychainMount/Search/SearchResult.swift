/// The result of `keychainfs search`.
package struct SearchResult: JSONText, Sendable {
    package let items: [FoundItem]

    /// The paths, each on its own line. Control characters, and those that change the direction of text, are `\u{…}`.
    package var text: String { items.map { Printable.text($0.path) }.joined(separator: "\n") }

    /// The unchanged paths, each followed by a NUL.
    package var nullTerminated: String { items.map { $0.path + "\0" }.joined() }
}
