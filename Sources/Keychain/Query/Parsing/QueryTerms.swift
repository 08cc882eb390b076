/// A dictionary divided by the families of its keys (reference 1.2), with decoded values.
///
/// Does not check which keys may be combined, or are valid in which call.
struct QueryTerms: Hashable, Sendable {
    private(set) var attributes: AttributeTerms
    /// Whether the class can have items: false for a class of Keychain Services that this keychain does not support; `attributes` then contains only
    /// those of all classes.
    let hasItems: Bool
    private(set) var reference: PersistentReference?
    private(set) var data = ValueData.none
    private(set) var returns: ReturnKeys = []
    private(set) var hasReturnKeys = false
    private(set) var limit: MatchLimit?
    /// The kSecMatch… keys except the limit, not parsed: only a search may contain them.
    private(set) var matchKeys: QueryDictionary = [:]
    private(set) var use = UseKeys()

    private static let maximumKeys = 128

    /// The reported error does not depend on the dictionary's order, because the class is checked first.
    ///
    /// - Throws: `param`; `noSuchClass` for an unknown class or a class that differs from the persistent reference's;
    ///   `noSuchAttr`.
    init(_ dictionary: QueryDictionary) throws(SecurityStatus) {
        guard !dictionary.isEmpty, dictionary.count <= Self.maximumKeys else { throw .param }
        reference = try Self.reference(in: dictionary)
        let itemClass = try Self.itemClass(of: dictionary, reference)
        hasItems = itemClass != nil
        attributes = AttributeTerms(itemClass ?? .genericPassword)
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) where key != QueryKey.itemClass {
            try add(key, value)
        }
        try attributes.checkProtection()
    }

    var itemClass: ItemClass { attributes.itemClass }

    private static func reference(in dictionary: QueryDictionary) throws(SecurityStatus) -> PersistentReference? {
        guard let value = dictionary[QueryKey.persistentReference] else { return nil }
        guard case .data(let bytes) = value, let found = PersistentReference(bytes: bytes) else { throw .param }
        return found
    }

    /// - Returns: The item class; nil for a class without items.
    private static func itemClass(
        of dictionary: QueryDictionary, _ reference: PersistentReference?
    ) throws(SecurityStatus) -> ItemClass? {
        guard let value = dictionary[QueryKey.itemClass] else {
            guard let reference else { throw .param }
            return reference.itemClass
        }
        guard let code = value.string else { throw .param }
        let itemClass = ItemClass.allCases.first { $0.code == code }
        guard itemClass != nil || ItemClass.codesWithoutItems.contains(code) else { throw .noSuchClass }
        if let reference, reference.itemClass != itemClass { throw .noSuchClass }
        return itemClass
    }

    private mutating func add(_ key: String, _ value: QueryValue) throws(SecurityStatus) {
        // CFNull is a date for kSecMatchValidOnDate: the present time.
        guard value != .null || key == "m_ValidOnDate" else { throw .param }
        if AttributeTerms.isAttribute(key) {
            guard hasItems || AttributeTerms.isOfEveryClass(key) else { return }
            return try attributes.add(key, value)
        }
        switch key.utf8.first {
        case UInt8(ascii: "m"): try add(match: key, value)
        case UInt8(ascii: "r"):
            hasReturnKeys = true
            try returns.add(key, value)
        case UInt8(ascii: "u"): try use.add(key, value)
        case UInt8(ascii: "v"): try add(value: key, value)
        // Private keys: callbacks and flags.
        case UInt8(ascii: "f") where key.utf8.count > 1: break
        default: throw .param
        }
    }

    private mutating func add(match key: String, _ value: QueryValue) throws(SecurityStatus) {
        if key == QueryKey.limit {
            limit = try MatchLimit(value)
        } else {
            matchKeys[key] = value
        }
    }

    private mutating func add(value key: String, _ value: QueryValue) throws(SecurityStatus) {
        switch key {
        case QueryKey.data: data = ValueData(value)
        case QueryKey.persistentReference: break
        // Includes kSecValueRef, because passwords have no reference, and only passwords are supported.
        default: throw .param
        }
    }
}

/// kSecValueData in a dictionary. A search ignores it.
enum ValueData: Hashable, Sendable {
    case none
    /// A CFData, whose bytes are passed separately.
    case given
    /// Text, CFNull or another value that is not a CFData.
    case invalid

    init(_ value: QueryValue) { self = value == .secret ? .given : .invalid }
}
