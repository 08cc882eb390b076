public import Foundation

/// A value of ``kSecAttrAccessControl``: a protection class and the constraints on each use of an item.
///
/// Two objects are equal if their protection classes and flags are equal.
public final class SecAccessControl: NSObject, Sendable {
    /// The value of a kSecAttrAccessible constant.
    let protection: String
    let flags: SecAccessControlCreateFlags

    init(protection: String, flags: SecAccessControlCreateFlags) {
        self.protection = protection
        self.flags = flags
    }

    /// - Throws: `unknownProtection` if `protection` is not a kSecAttrAccessible constant; `contradiction` if the flags
    ///   exclude each other.
    convenience init(
        protection: CFTypeRef, checking flags: SecAccessControlCreateFlags
    ) throws(SecAccessControlError) {
        guard let protection = protection as? String, Self.protections.contains(protection) else {
            throw .unknownProtection
        }
        try flags.check()
        self.init(protection: protection, flags: flags)
    }

    private static let protections: Set<String> = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return protection == other.protection && flags == other.flags
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(flags)
        return hasher.finalize()
    }

    public override var description: String { "<SecAccessControl \(protection), flags \(flags.rawValue)>" }
}
