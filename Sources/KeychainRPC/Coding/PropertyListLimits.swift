/// What a list may cost whoever reads it. Lists share what they refer to, so a short one can stand for a huge value.
enum PropertyListLimits {
    /// Containers within one another, the outermost included, and what lies in the innermost.
    static let depth = 16
    /// Values of all kinds, each time that one is referred to.
    static let values = 1 << 16
    /// Bytes of texts and data, each time that one is referred to.
    static let payload = 2 << 20
}
