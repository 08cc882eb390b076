/// The class of an item (`kSecClass`).
///
/// Raw values are part of the store format: never renumbered.
package enum ItemClass: UInt8, CaseIterable, Hashable, Sendable {
    /// kSecClassGenericPassword
    case genericPassword = 1
    /// kSecClassInternetPassword
    case internetPassword = 2

    /// The value of the constant: `genp`, `inet`.
    package var code: String {
        switch self {
        case .genericPassword: "genp"
        case .internetPassword: "inet"
        }
    }

    /// The constant's name without `kSecClass`.
    package var suffix: String {
        switch self {
        case .genericPassword: "GenericPassword"
        case .internetPassword: "InternetPassword"
        }
    }

    /// The values of kSecClassCertificate, kSecClassKey and kSecClassIdentity: valid in a query, which then matches no
    /// item.
    static let codesWithoutItems: Set<String> = ["cert", "keys", "idnt"]
}
