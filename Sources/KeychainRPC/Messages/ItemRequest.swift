/// A call of one of the four functions of Keychain Services, but for the secret that goes with it.
package struct ItemRequest: Sendable, Hashable {
    package enum Operation: String, Sendable, CaseIterable {
        case add, copyMatching, update, delete
    }

    package var operation: Operation
    /// The first argument. Keys are the constants' values: `class`, `acct`, `r_Data`. In one of `add` kSecValueData
    /// (`v_Data`) is `.secret(0)`.
    package var query: [String: PropertyList]
    /// The second argument, of `update` alone. kSecValueData is `.secret(0)`.
    package var attributes: [String: PropertyList]
    /// The caller's kSecAttrAccessGroup values; the first is that of new items. `*`: all groups.
    package var accessGroups: [String]

    package init(
        _ operation: Operation, query: [String: PropertyList], attributes: [String: PropertyList] = [:],
        accessGroups: [String]
    ) {
        self.operation = operation
        self.query = query
        self.attributes = attributes
        self.accessGroups = accessGroups
    }
}
