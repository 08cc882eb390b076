/// The characters of the lines in a tree.
package enum TreeLines: Sendable {
    /// Box-drawing characters.
    case unicode
    case ascii

    /// - Parameter environment: The value of an environment variable. The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set and
    ///   not empty decides (locale(7)).
    package init(environment: (String) -> String?) {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty }
        let encoding = (locale ?? "").lowercased()
        self = encoding.contains("utf-8") || encoding.contains("utf8") ? .unicode : .ascii
    }

    /// The text before a name.
    func branch(isLast: Bool) -> String {
        switch self {
        case .unicode: isLast ? "└── " : "├── "
        case .ascii: isLast ? "`-- " : "|-- "
        }
    }

    /// The text before the names below.
    func continuation(isLast: Bool) -> String {
        guard !isLast else { return "    " }
        return self == .unicode ? "│   " : "|   "
    }
}
