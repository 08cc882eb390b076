/// A field or attribute that a later version has written, which this one keeps and otherwise ignores.
package struct LaterField: Hashable, Sendable {
    /// The numbers of such fields and attributes. Unknown ones below are an error.
    package static let tags: ClosedRange<UInt8> = 128...255

    package let tag: UInt8
    package let value: [UInt8]

    package init(tag: UInt8, value: [UInt8]) { (self.tag, self.value) = (tag, value) }
}
