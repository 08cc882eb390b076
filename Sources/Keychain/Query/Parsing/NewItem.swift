/// What SecItemAdd is asked to add, checked.
struct NewItem: Hashable, Sendable {
    let attributes: AttributeTerms
    let place: ItemPlace
    /// Nil for the default of where it will lie.
    let protection: Protection?
    let hasData: Bool
    let returns: ReturnKeys

    /// - Throws: `missingEntitlement` for a client without groups and for a group that is not the client's; else as
    ///   ``QueryTerms``, and `param` for what only a search can have.
    init(_ dictionary: QueryDictionary, by client: QueryClient) throws(SecurityStatus) {
        try client.check()
        // The class may come from nothing else: what a persistent reference names is there already.
        guard dictionary[QueryKey.itemClass] != nil else { throw .param }
        let terms = try QueryTerms(dictionary)
        guard !terms.hasMatchKeys, terms.limit == nil, !terms.use.skipsAuthentication, terms.data != .invalid,
            terms.attributes.synchronizable != .any, terms.attributes.values[.tombstone] ?? .number(0) == .number(0)
        else { throw .param }
        attributes = terms.attributes
        hasData = terms.data == .given
        returns = terms.returns
        let group = attributes.accessGroup ?? client.defaultGroup
        try client.checkWriting(group)
        place = ItemPlace(
            account: .text([]), service: .empty(attributes.itemClass),
            container: ContainerKey(itemClass: attributes.itemClass, accessGroup: group)
        ).changed(by: attributes)
        protection = attributes.protection ?? (group == Self.pushGroup ? .alwaysThisDeviceOnly : nil)
        guard !place.container.isSynchronizable || attributes.accessControl?.hasConstraints != true else {
            throw .param
        }
    }

    /// What lies in it has to be usable when a push message comes.
    private static let pushGroup = Array("com.apple.apsd".utf8)
}
