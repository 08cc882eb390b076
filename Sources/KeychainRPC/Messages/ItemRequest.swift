/// A call of one of the four functions of Keychain Services, without the secret that belongs to it.
package struct ItemRequest: Sendable, Hashable {
    package enum Operation: String, Sendable, CaseIterable {
        case add, copyMatching, update, delete
    }

    package var operation: Operation
    /// The first argument. The keys are the values of the constants: `class`, `acct`, `r_Data`. In an `add`
    /// kSecValueData (`v_Data`) is `.secret(0)`.
    package var query: [String: PropertyList]
    /// The second argument, which only `update` has. kSecValueData is `.secret(0)`.
    package var attributes: [String: PropertyList]
    /// The caller's kSecAttrAccessGroup values. New items get the first one. `*` represents all groups.
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
