import Foundation

/// The words of a search, each of which must occur in the path, label or comment of an item, in any case.
struct SearchWords: Sendable {
    private let words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    func match(_ item: FoundItem) -> Bool {
        let texts = [item.name] + ["kSecAttrLabel", "kSecAttrComment"].compactMap { item.attributes[$0]?.asText }
        return words.allSatisfy { word in
            texts.contains { $0.range(of: word, options: .caseInsensitive) != nil }
        }
    }
}

extension FoundItem {
    /// The text that identifies the item: account, service or server with its parts, and access group, as in its path.
    fileprivate var name: String {
        let keys = [
            "kSecAttrAccount", "kSecAttrService", "kSecAttrServer", "kSecAttrPath", "kSecAttrSecurityDomain",
            "kSecAttrAccessGroup",
        ]
        return keys.compactMap { attributes[$0]?.asText }.joined(separator: "/")
    }
}
