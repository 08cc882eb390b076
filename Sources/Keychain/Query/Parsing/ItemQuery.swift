/// The validated first argument of SecItemCopyMatching, SecItemUpdate and SecItemDelete.
struct ItemQuery: Hashable, Sendable {
    enum Operation: Hashable, Sendable {
        case copyMatching, update, delete
    }

    let attributes: AttributeTerms
    /// ``Item/persistentReference``
    let reference: [UInt8]?
    let match: MatchFilter
    let limit: MatchLimit
    let returns: ReturnKeys
    /// The groups to search; nil for all.
    let groups: [[UInt8]]?

    var itemClass: ItemClass { attributes.itemClass }

    /// - Throws: `missingEntitlement` for a client without groups and for a group of another client; the errors of
    ///   ``QueryTerms`` and ``MatchFilter``; `param` for invalid combinations (reference 3.14); `itemNotFound` for a
    ///   class without items, after all other checks.
    init(_ dictionary: QueryDictionary, for operation: Operation, by client: QueryClient) throws(SecurityStatus) {
        try client.check()
        let terms = try QueryTerms(dictionary)
        try Self.check(terms, for: operation)
        attributes = terms.attributes
        reference = terms.reference?.identifier
        match = try MatchFilter(terms.matchKeys, for: attributes.itemClass)
        limit = operation == .copyMatching ? terms.limit ?? .one : .all
        returns = terms.returns
        if let group = attributes.accessGroup {
            try client.check(group)
            groups = [group]
        } else {
            groups = client.visibleGroups
        }
        guard terms.hasItems else { throw .itemNotFound }
    }

    private static func check(_ terms: QueryTerms, for operation: Operation) throws(SecurityStatus) {
        switch operation {
        case .copyMatching:
            guard terms.reference == nil || terms.attributes.isEmpty else { throw .param }
        case .update, .delete:
            // kSecMatchLimitAll, which Apple's older keychain requires here, has no effect.
            guard terms.limit == nil || terms.limit == .all, terms.matchKeys.isEmpty, !terms.use.skipsAuthentication
            else { throw .param }
            if operation == .update, terms.hasReturnKeys { throw .param }
        }
    }

    /// The values of kSecAttrSynchronizable to search.
    var synchronizables: [Bool] {
        switch attributes.synchronizable {
        case .only(let flag): [flag]
        case .any: [false, true]
        case nil: reference == nil ? [false] : [false, true]
        }
    }
}
