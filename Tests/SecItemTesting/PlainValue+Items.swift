extension [String: PlainValue] {
    /// A generic password's key.
    package static func generic(_ service: PlainValue, _ account: PlainValue) -> [String: PlainValue] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    /// An internet password's key, as far as it is given.
    package static func internet(_ server: PlainValue, _ account: PlainValue) -> [String: PlainValue] {
        [kSecClass: kSecClassInternetPassword, kSecAttrServer: server, kSecAttrAccount: account]
    }

    package static let anyGeneric: [String: PlainValue] = [kSecClass: kSecClassGenericPassword]
    package static let anyInternet: [String: PlainValue] = [kSecClass: kSecClassInternetPassword]
}
