import KeychainMount

/// A directory or an item of a keychain, with its label and everything below it (contract, E4). Contains no secret.
package struct ItemTree: JSONText, Hashable, Sendable {
    /// The name as the mount shows it; the path of the topmost directory.
    package let name: String
    /// The label of an item.
    package let label: String?
    /// The contents of a directory, in the order of the names' bytes; nil for an item.
    package let contents: [ItemTree]?

    package init(name: String, label: String? = nil, contents: [ItemTree]? = nil) {
        (self.name, self.label) = (name, label)
        self.contents = contents?.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The tree as text: a name in each line, and after it a label that differs from it.
    package func text(_ lines: TreeLines) -> String {
        var text = [description]
        append(to: &text, lines, indentation: "")
        return text.joined(separator: "\n")
    }

    private func append(to text: inout [String], _ lines: TreeLines, indentation: String) {
        for (index, child) in (contents ?? []).enumerated() {
            let isLast = index + 1 == contents?.count
            text.append(indentation + lines.branch(isLast: isLast) + child.description)
            child.append(to: &text, lines, indentation: indentation + lines.continuation(isLast: isLast))
        }
    }

    private var description: String {
        guard let label, !label.isEmpty, !label.utf8.elementsEqual(name.utf8) else { return Printable.text(name) }
        return "\(Printable.text(name))  (\(Printable.text(label)))"
    }
}
