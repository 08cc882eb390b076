/// What SecItemCopyMatching or SecItemAdd gives back beside success (reference 3.3).
package enum QueryResult: Sendable {
    /// Nothing was asked for, or nothing is there to be given.
    case none
    case one(QueryEntry)
    /// Wherever the limit is not one, also with a single match.
    case list([QueryEntry])
}

/// What is given of one item.
package enum QueryEntry: Sendable {
    /// kSecReturnData alone. Still sealed: whoever hands it over opens it.
    case data(SealedSecret)
    /// kSecReturnPersistentRef alone: 20 bytes.
    case persistentReference([UInt8])
    /// Everything else: a dictionary. The secret belongs under kSecValueData; nil for an item without one, and where none
    /// was asked for.
    case dictionary([String: QueryValue], SealedSecret?)
}

extension QueryEntry {
    /// Nil for what cannot be given: the secret of an item without one, a reference to a password.
    init?(_ match: ItemMatch, secret: SealedSecret?, _ returns: ReturnKeys) {
        let reference = PersistentReference(match.container.itemClass, match.item.persistentReference).bytes
        switch returns {
        case [], .reference: return nil
        case .data:
            guard let secret else { return nil }
            self = .data(secret)
        case .persistentReference: self = .persistentReference(reference)
        default:
            var values = returns.contains(.attributes) ? match.attributes : [:]
            if returns.contains(.persistentReference) { values[QueryKey.persistentReference] = .data(reference) }
            // As Apple does: the class comes with references only, though a password has none.
            if returns.contains(.reference) { values[QueryKey.itemClass] = .string(match.container.itemClass.code) }
            self = .dictionary(values, returns.contains(.data) ? secret : nil)
        }
    }
}
