internal import Keychain

/// An index of the store, which finds the rows of `table` by one column, `key`.
///
/// SQLite stores an entry as the key and the row number, in this order. An index on (directory) therefore also lists
/// the rows of a directory in the order of their numbers.
struct StoreIndex: Hashable, Sendable {
    let name: String
    let table: String
    let key: String
    /// A column that is not NULL in the rows that have an entry; nil for all rows.
    var condition: String?
    var isUnique = false

    /// All indexes in the order of creation. Part of the store format.
    static let all = [
        StoreIndex(name: "directory_tag", table: "directory", key: "tag", isUnique: true),
        StoreIndex(
            name: "directory_always_tag", table: "directory", key: "always_tag", condition: "always_tag",
            isUnique: true),
        StoreIndex(name: "directory_parent", table: "directory", key: "parent"),
        StoreIndex(
            name: "directory_always_parent", table: "directory", key: "parent", condition: "always_tag"),
        StoreIndex(name: "item_tag", table: "item", key: "tag", isUnique: true),
        StoreIndex(
            name: "item_always_tag", table: "item", key: "always_tag", condition: "always_tag", isUnique: true),
        StoreIndex(name: "item_directory", table: "item", key: "directory"),
        StoreIndex(name: "item_always_directory", table: "item", key: "directory", condition: "always_tag"),
        // Few or no entries: rows that were added while locked and are rewrapped at the next unlock.
        StoreIndex(name: "item_ephemeral", table: "item", key: "id", condition: "ephemeral"),
        StoreIndex(name: "past_tag", table: "past", key: "tag"),
        StoreIndex(name: "item_key_tag", table: "item_key", key: "tag"),
    ]

    /// Whether its key is a lookup tag, otherwise a row number.
    var isOfTags: Bool { key.hasSuffix("tag") }

    /// The statement that creates the index, spelled as SQLite stores it.
    var statement: String {
        let unique = isUnique ? "UNIQUE " : ""
        let suffix = condition.map { " WHERE \($0) IS NOT NULL" } ?? ""
        return "CREATE \(unique)INDEX \(name) ON \(table) (\(key))\(suffix)"
    }
}
