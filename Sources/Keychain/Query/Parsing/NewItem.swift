/// What SecItemAdd is asked to add, checked.
struct NewItem: Hashable, Sendable {
    let attributes: AttributeTerms
    let primaryKey: ItemPrimaryKey
    /// Nil for the default of where it will lie.
    let protection: ProtectionClass?
    let hasData: Bool
    let returns: ReturnKeys

    /// - Throws: `missingEntitlement` for a client without groups and for a group that is not the client's; else as
    ///   ``QueryTerms``, and `param` for what only a search can have.
    init(_ dictionary: QueryDictionary, by client: QueryClient) throws(SecurityStatus) {
        try client.check()
        // The class may come from nothing else: what a persistent reference names is there already.
        guard let itemClass = dictionary[QueryKey.itemClass] else { throw .param }
        guard !ItemClass.codesWithoutItems.contains(itemClass.string ?? "") else { throw .noSuchClass }
        let terms = try QueryTerms(dictionary)
        guard terms.matchKeys.isEmpty, terms.limit == nil, !terms.use.skipsAuthentication, terms.data != .invalid
        else { throw .param }
        try terms.attributes.checkStored()
        attributes = terms.attributes
        hasData = terms.data == .given
        returns = terms.returns
        let group = attributes.accessGroup ?? client.defaultGroup
        try client.checkWriting(group)
        primaryKey = ItemPrimaryKey(
            account: .text([]), service: .empty(attributes.itemClass),
            container: ContainerKey(itemClass: attributes.itemClass, accessGroup: group)
        ).changed(by: attributes)
        protection = attributes.protection ?? (group == Self.pushGroup ? .alwaysThisDeviceOnly : nil)
        guard !primaryKey.container.isSynchronizable || attributes.accessControl?.hasConstraints != true else {
            throw .param
        }
    }

    /// What lies in it has to be usable when a push message comes.
    private static let pushGroup = Array("com.apple.apsd".utf8)
}
