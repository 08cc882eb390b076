extension [String: Plain] {
    /// A generic password's key.
    package static func generic(_ service: Plain, _ account: Plain) -> [String: Plain] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    /// An internet password's key, as far as it is given.
    package static func internet(_ server: Plain, _ account: Plain) -> [String: Plain] {
        [kSecClass: kSecClassInternetPassword, kSecAttrServer: server, kSecAttrAccount: account]
    }

    package static let anyGeneric: [String: Plain] = [kSecClass: kSecClassGenericPassword]
    package static let anyInternet: [String: Plain] = [kSecClass: kSecClassInternetPassword]
}
