/// The constraints that must be satisfied before each use of an item.
///
/// The unlocked keychain satisfies ``userPresence`` and ``devicePasscode``. All other constraints need hardware or a password
/// of the application. ``SecAccessControlCreateWithFlags(_:_:_:_:)`` creates objects with them, but an item that would
/// depend on one cannot be stored: ``SecItemAdd(_:_:)`` and ``SecItemUpdate(_:_:)`` return ``errSecParam``.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    public let rawValue: CFOptionFlags

    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    public static let userPresence = Self(rawValue: 1 << 0)
    public static let biometryAny = Self(rawValue: 1 << 1)
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    public static let devicePasscode = Self(rawValue: 1 << 4)
    public static let companion = Self(rawValue: 1 << 5)
    /// One of the constraints suffices.
    public static let or = Self(rawValue: 1 << 14)
    /// All of the constraints are required, as without this flag.
    public static let and = Self(rawValue: 1 << 15)
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    public static let applicationPassword = Self(rawValue: 1 << 31)

    // Older names.
    public static let touchIDAny = biometryAny
    public static let touchIDCurrentSet = biometryCurrentSet
    public static let watch = companion
}

extension SecAccessControlCreateFlags {
    /// - Throws: `contradiction` for combinations that Apple's implementation refuses too (SecAccessControl.m).
    func check() throws(SecAccessControlError) {
        let biometry: Self = [.biometryAny, .biometryCurrentSet]
        let withPresence: Self = [.userPresence, .applicationPassword, .privateKeyUsage]
        let isContradictory =
            isSuperset(of: [.or, .and]) || isSuperset(of: biometry)
            || contains(.userPresence) && !withPresence.isSuperset(of: self)
        if isContradictory { throw .contradiction }
    }
}
