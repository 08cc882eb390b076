/// The keys of a dictionary that are not attributes (`SecItemConstants.c`), except those that only one type uses.
package enum QueryKey {
    static let itemClass = "class"
    package static let data = "v_Data"
    static let reference = "v_Ref"
    static let persistentReference = "v_PersistentRef"
    static let limit = "m_Limit"
    /// kSecAttrSynchronizable, and the value that represents both.
    static let synchronizable = "sync"
    static let synchronizableAny = "syna"
    static let accessControl = "accc"
    static let accessGroup = "agrp"
    static let accessible = "pdmn"
    /// kSecUseDataProtectionKeychain, without effect: there is no other keychain.
    static let useDataProtectionKeychain = "nleg"
    /// The mark of app clips, which no client may set.
    static let appClip = "clip"
}
