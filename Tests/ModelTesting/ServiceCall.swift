/// A call of Keychain Services for one item (contract, F10), identified by its primary key.
public enum ServiceCall: Hashable, Codable, Sendable {
    case add(Place, BytePattern, label: String?)
    /// Attributes that are nil are not changed.
    case update(Place, BytePattern?, label: String?, to: Place?)
    case delete(Place)
    /// Its value.
    case find(Place)
}

/// The error of a call of Keychain Services (OSStatus).
struct ServiceStatus: Error {
    let code: Int32

    static let diskFull = ServiceStatus(code: -34)
    static let duplicateItem = ServiceStatus(code: -25299)
    static let itemNotFound = ServiceStatus(code: -25300)
    static let interactionNotAllowed = ServiceStatus(code: -25308)
}
