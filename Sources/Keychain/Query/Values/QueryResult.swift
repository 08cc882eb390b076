/// The result of SecItemCopyMatching or SecItemAdd besides the status (reference 3.3).
package enum QueryResult: Sendable {
    /// No result was requested or is available.
    case none
    case one(QueryEntry)
    /// An array, even of one match, unless the limit is one.
    case list([QueryEntry])
}

/// The result for one item.
package enum QueryEntry: Sendable {
    /// kSecReturnData alone. Sealed; the recipient opens it.
    case data(SealedSecret)
    /// kSecReturnPersistentRef alone: 20 bytes.
    case persistentReference([UInt8])
    /// A dictionary in all other cases. The secret belongs under kSecValueData; nil for an item without one, and if it
    /// was not requested.
    case dictionary([String: QueryValue], SealedSecret?)
}

extension QueryEntry {
    /// Creates the result; nil if it cannot be returned: the secret of an item without one, a reference to a password.
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
            // As Apple does: the class is returned only with references, although a password has no reference.
            if returns.contains(.reference) { values[QueryKey.itemClass] = .string(match.container.itemClass.code) }
            self = .dictionary(values, returns.contains(.data) ? secret : nil)
        }
    }
}
