/// The keys of a dictionary that are no attributes (`SecItemConstants.c`), beside those that one type alone knows.
package enum QueryKey {
    static let itemClass = "class"
    package static let data = "v_Data"
    static let reference = "v_Ref"
    static let persistentReference = "v_PersistentRef"
    static let limit = "m_Limit"
    /// kSecAttrSynchronizable, and the value that stands for both.
    static let synchronizable = "sync"
    static let synchronizableAny = "syna"
    static let accessControl = "accc"
    static let accessGroup = "agrp"
    static let accessible = "pdmn"
    /// kSecUseDataProtectionKeychain: there is no other keychain.
    static let useDataProtectionKeychain = "nleg"
    /// The mark of app clips, which nobody may set.
    static let appClip = "clip"
}
