/// The validated argument of SecItemAdd.
struct NewItem: Hashable, Sendable {
    let attributes: AttributeTerms
    let primaryKey: ItemPrimaryKey
    /// The protection class; nil for the default of the directory.
    let protection: ProtectionClass?
    let hasData: Bool
    let returns: ReturnKeys

    /// - Throws: `missingEntitlement` for a client without groups and for a group of another client; the errors of
    ///   ``QueryTerms``; `param` for keys that only a search may contain.
    init(_ dictionary: QueryDictionary, by client: QueryClient) throws(SecurityStatus) {
        try client.check()
        // Required, because a persistent reference identifies an existing item.
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

    /// The items of this group must be usable when a push message arrives.
    private static let pushGroup = Array("com.apple.apsd".utf8)
}
