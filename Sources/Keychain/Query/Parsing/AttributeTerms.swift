/// The attributes of a dictionary, coerced for the item class.
struct AttributeTerms: Hashable, Sendable {
    enum Synchronizable: Hashable, Sendable {
        case only(Bool)
        /// kSecAttrSynchronizableAny
        case any
    }

    let itemClass: ItemClass
    /// All attributes except the following two.
    private(set) var values: [AttributeKey: AttributeValue] = [:]
    private(set) var synchronizable: Synchronizable?
    private(set) var accessControl: AccessControl?

    init(_ itemClass: ItemClass) { self.itemClass = itemClass }

    /// Whether no attribute restricts the search.
    var isEmpty: Bool {
        values.isEmpty && accessControl == nil && (synchronizable == nil || synchronizable == .any)
    }

    /// kSecAttrAccessGroup, as UTF-8.
    var accessGroup: [UInt8]? { values[.accessGroup]?.bytes }

    /// The protection class in kSecAttrAccessible or kSecAttrAccessControl.
    var protection: ProtectionClass? {
        accessControl?.protection ?? values[.accessible].flatMap { ProtectionClass($0) }
    }

    /// - Throws: `noSuchAttr` for an attribute that the class does not have; `param` for a value that it cannot
    ///   represent.
    mutating func add(_ code: String, _ value: QueryValue) throws(SecurityStatus) {
        switch code {
        case QueryKey.useDataProtectionKeychain: break
        case QueryKey.appClip: throw .param
        case QueryKey.synchronizable where value.string == QueryKey.synchronizableAny: synchronizable = .any
        case QueryKey.synchronizable:
            synchronizable = .only(try AttributeKey.synchronizable.coerced(value) == .number(1))
        case QueryKey.accessControl:
            guard case .accessControl(let control) = value else { throw .param }
            accessControl = control
        default:
            guard let attribute = AttributeKey.coded(code, in: itemClass) else { throw .noSuchAttr }
            values[attribute] = try attribute.coerced(value)
        }
    }

    /// Checks the attributes of an item to be stored.
    ///
    /// - Throws: `param` for kSecAttrSynchronizableAny, for a tombstone, and for an access control that cannot be
    ///   enforced.
    func checkStored() throws(SecurityStatus) {
        guard synchronizable != .any, values[.tombstone] ?? .number(0) == .number(0),
            accessControl?.isSupported ?? true
        else { throw .param }
    }

    /// - Throws: `param` if kSecAttrAccessible and kSecAttrAccessControl contain different protection classes.
    func checkProtection() throws(SecurityStatus) {
        guard let accessControl, let named = values[.accessible] else { return }
        guard ProtectionClass(named) == accessControl.protection else { throw .param }
    }

    /// Whether a key of a dictionary is an attribute: only attributes have codes of four characters.
    static func isAttribute(_ key: String) -> Bool { key.utf8.count == 4 }

    /// Whether an attribute has the same meaning in every class, including those without items.
    static func isOfEveryClass(_ key: String) -> Bool {
        switch key {
        case QueryKey.synchronizable, QueryKey.accessControl, QueryKey.appClip, QueryKey.accessGroup,
            QueryKey.accessible:
            true
        default: false
        }
    }
}
