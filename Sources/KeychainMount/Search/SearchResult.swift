/// What `keychainfs search` shows.
package struct SearchResult: JSONText, Sendable {
    package let items: [FoundItem]

    /// A path a line. Control characters, and those that change the direction of what follows, are `\u{…}`.
    package var text: String { items.map { Printable.text($0.path) }.joined(separator: "\n") }

    /// The paths as they are, each with a NUL behind it.
    package var nullTerminated: String { items.map { $0.path + "\0" }.joined() }
}
