/// The caller of a function: its access groups, which are entitlements on other systems, and the owner of the files of
/// added items.
package struct QueryClient: Hashable, Sendable {
    /// The access groups (kSecAttrAccessGroup) as UTF-8, each once. New items get the first one. `*` represents all
    /// groups.
    package let accessGroups: [[UInt8]]
    package var userID: UInt32
    package var groupID: UInt32

    package init(accessGroups: [[UInt8]], userID: UInt32, groupID: UInt32) {
        var seen: Set<[UInt8]> = []
        self.accessGroups = accessGroups.filter { seen.insert($0).inserted }
        self.userID = userID
        self.groupID = groupID
    }

    private static let every = Array("*".utf8)
    /// The group of items on smart cards, to which no item can be added.
    private static let token = Array("com.apple.token".utf8)

    /// The visible groups; nil for all.
    var visibleGroups: [[UInt8]]? { accessGroups.contains(Self.every) ? nil : accessGroups }

    /// The group of added items without kSecAttrAccessGroup.
    var defaultGroup: [UInt8] { accessGroups.first { $0 != Self.every } ?? ContainerKey.defaultAccessGroup }

    /// Requires that the client has a group.
    func check() throws(SecurityStatus) {
        if accessGroups.isEmpty { throw .missingEntitlement }
    }

    /// Requires that a group in a query is one of the client's.
    func check(_ group: [UInt8]) throws(SecurityStatus) {
        guard visibleGroups?.contains(group) ?? true else { throw .missingEntitlement }
    }

    /// Requires that items can be added to a group.
    func checkWriting(_ group: [UInt8]) throws(SecurityStatus) {
        guard group != Self.token else { throw .missingEntitlement }
        try check(group)
    }
}
