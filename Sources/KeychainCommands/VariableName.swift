/// The name of an environment variable: ASCII letters, digits and `_`, not beginning with a digit (POSIX, 8.1; shells accept no
/// others).
package struct VariableName: Hashable, Sendable {
    package let text: String

    /// Returns nil if the text is not such a name.
    package init?(_ text: String) {
        self.init(text.utf8.span, 0..<text.utf8.count)
    }

    init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        let isName = range.allSatisfy { index in
            switch octets[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): index > range.lowerBound
            default: false
            }
        }
        guard isName, !range.isEmpty else { return nil }
        text = String(decoding: range.map { octets[$0] }, as: UTF8.self)
    }
}
