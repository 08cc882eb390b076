/// The kSecUse… keys. No function asks the user, and there is one keychain, so most of them have no effect.
struct UseKeys: Hashable, Sendable {
    /// kSecUseAuthenticationUISkip, which only a search may contain.
    private(set) var skipsAuthentication = false
    private var hasContext = false
    private var hasCredential = false

    private static let ignored: Set<String> = [
        "u_Tomb", "u_OpPrompt", "u_NoAuthUI", "u_SystemKeychain", "u_SystemKeychainAlways", "u_SyncBubbleKeychain",
        "u_CallerName", "u_TokenRawItems", "u_CertWithIssuers", "u_UserIndependentKeychain",
    ]

    /// Adds a key.
    ///
    /// - Throws: `param` for an unknown key, and for kSecUseItemList.
    mutating func add(_ key: String, _ value: QueryValue) throws(SecurityStatus) {
        switch key {
        case "u_AuthCtx": hasContext = true
        case "u_CredRef": hasCredential = true
        case "u_AuthUI": try add(interface: value)
        default: guard Self.ignored.contains(key) else { throw .param }
        }
        if hasContext && hasCredential { throw .param }
    }

    private mutating func add(interface value: QueryValue) throws(SecurityStatus) {
        switch value.string {
        case "u_AuthUIA", "u_AuthUIF": break
        case "u_AuthUIS": skipsAuthentication = true
        default: throw .param
        }
    }
}
