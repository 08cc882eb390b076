/// Limits on the work of a reader. Elements may be shared, so a short list can represent a huge value.
enum PropertyListLimits {
    /// The maximum number of nested containers plus the element of the innermost one.
    static let depth = 16
    /// The maximum number of values, each counted once per reference.
    static let values = 1 << 16
    /// The maximum size of texts and data in bytes, each counted once per reference.
    static let payload = 2 << 20
}
