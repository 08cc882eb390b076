import Security

/// The SecItem functions as a user's program calls them, for the cases of the mount.
///
/// `secitem add|find|update|delete ATTRIBUTE=VALUE… [-- ATTRIBUTE=VALUE…]`: attributes by their four-character codes,
/// `class`, `m_Limit=all`. Prints the status, and the items that `find` has found: a line for each attribute, and a
/// line that ends the item.
@main
enum SecItemProgram {
    static func main() {
        let words = CommandLine.arguments.dropFirst(2).split(separator: "--", omittingEmptySubsequences: false)
        let query = dictionary(words.first ?? [])
        switch CommandLine.arguments.dropFirst().first {
        case "add": print(SecItemAdd(query as CFDictionary, nil))
        case "find": find(query)
        case "update": print(SecItemUpdate(query as CFDictionary, dictionary(words.last ?? []) as CFDictionary))
        case "delete": print(SecItemDelete(query as CFDictionary))
        default: print("usage: secitem add|find|update|delete ATTRIBUTE=VALUE… [-- ATTRIBUTE=VALUE…]")
        }
    }

    private static func find(_ query: [String: Any]) {
        let returning: [CFString: Any] = [kSecReturnAttributes: true, kSecReturnData: true]
        var result: CFTypeRef?
        let query = query.merging(returning.map { ($0.key as String, $0.value) }) { $1 }
        print(SecItemCopyMatching(query as CFDictionary, &result))
        for item in result as? [[String: Any]] ?? (result as? [String: Any]).map({ [$0] }) ?? [] {
            for (name, value) in item.sorted(by: { $0.key < $1.key }) { print("\(name)=\(text(value))") }
            print(".")
        }
    }

    private static func dictionary(_ words: ArraySlice<String>) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            guard parts.count == 2 else { continue }
            dictionary[parts[0]] = value(parts[1], for: parts[0])
        }
        return dictionary
    }

    private static func value(_ text: String, for name: String) -> Any {
        switch name {
        case String(kSecValueData): Data(text.utf8)
        case String(kSecMatchLimit): text == "all" ? kSecMatchLimitAll : kSecMatchLimitOne
        case String(kSecAttrPort), String(kSecAttrSynchronizable): Int(text) as Any
        default: text
        }
    }

    private static func text(_ value: Any) -> String {
        if let data = value as? Data { return String(decoding: data, as: UTF8.self) }
        return "\(value)"
    }
}
