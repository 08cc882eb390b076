/// A number and its noun.
package enum Counted {
    package static func items(_ number: Int) -> String { text(number, "item", "items") }
    static func directories(_ number: Int) -> String { text(number, "directory", "directories") }
    static func bytes(_ number: some BinaryInteger) -> String { text(number, "byte", "bytes") }
    /// Values that were replaced or deleted.
    static func pastValues(_ number: Int) -> String {
        text(number, "replaced or deleted value", "replaced or deleted values")
    }

    /// Returns the number and the text for it: "1 item is", "2 items are".
    package static func text(_ number: some BinaryInteger, _ one: String, _ several: String) -> String {
        "\(number) \(number == 1 ? one : several)"
    }
}
