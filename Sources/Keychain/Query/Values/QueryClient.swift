/// Who asks: what an application's entitlements say on other systems, and the owner of the files of what it adds.
package struct QueryClient: Hashable, Sendable {
    /// kSecAttrAccessGroup, as UTF-8, each once; the first is that of new items. `*`: all groups.
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
    /// The group of what lies on smart cards: nobody adds to it.
    private static let token = Array("com.apple.token".utf8)

    /// The groups that it sees: nil for all.
    var visibleGroups: [[UInt8]]? { accessGroups.contains(Self.every) ? nil : accessGroups }

    /// The group of what it adds without naming one.
    var defaultGroup: [UInt8] { accessGroups.first { $0 != Self.every } ?? ContainerKey.defaultAccessGroup }

    /// A client without groups can do nothing.
    func check() throws(SecurityStatus) {
        if accessGroups.isEmpty { throw .missingEntitlement }
    }

    /// Whether a group that a query names is the client's.
    func check(_ group: [UInt8]) throws(SecurityStatus) {
        guard visibleGroups?.contains(group) ?? true else { throw .missingEntitlement }
    }

    /// Whether items can be put into a group.
    func checkWriting(_ group: [UInt8]) throws(SecurityStatus) {
        guard group != Self.token else { throw .missingEntitlement }
        try check(group)
    }
}
