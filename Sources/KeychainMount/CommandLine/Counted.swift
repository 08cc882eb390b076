/// A number and its noun.
package enum Counted {
    /// Returns the number and the text for it: "1 item is", "2 items are".
    package static func text(_ number: some BinaryInteger, _ one: String, _ several: String) -> String {
        "\(number) \(number == 1 ? one : several)"
    }
}
