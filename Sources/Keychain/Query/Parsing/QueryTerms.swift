/// A dictionary taken apart by the families of its keys (reference 1.2), each value as its key takes it.
///
/// What may stand together, and in which call, is not looked at here.
struct QueryTerms: Hashable, Sendable {
    private(set) var attributes: AttributeTerms
    private(set) var reference: PersistentReference?
    private(set) var data = ValueData.none
    private(set) var returns: ReturnKeys = []
    private(set) var hasReturnKeys = false
    private(set) var limit: MatchLimit?
    private(set) var match = MatchFilter()
    /// Whether there is a kSecMatch… key beside the limit.
    private(set) var hasMatchKeys = false
    private(set) var use = UseKeys()

    private static let maximumKeys = 128

    /// Which of several errors is told does not depend on the dictionary's order: the class comes first.
    ///
    /// - Throws: `param`, `noSuchClass`, `noSuchAttr`, `unimplemented`; `itemNotFound` for a persistent reference of a class
    ///   of which there are no items.
    init(_ dictionary: QueryDictionary) throws(SecurityStatus) {
        guard !dictionary.isEmpty, dictionary.count <= Self.maximumKeys else { throw .param }
        reference = try Self.reference(in: dictionary)
        attributes = AttributeTerms(try Self.itemClass(of: dictionary, reference))
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

    private static func itemClass(
        of dictionary: QueryDictionary, _ reference: PersistentReference?
    ) throws(SecurityStatus) -> ItemClass {
        guard let value = dictionary[QueryKey.itemClass] else {
            guard let reference else { throw .param }
            guard let found = reference.itemClass else { throw .itemNotFound }
            return found
        }
        guard let code = value.string else { throw .param }
        guard let itemClass = ItemClass.allCases.first(where: { $0.code == code }) else { throw .noSuchClass }
        if let reference, reference.itemClass != itemClass { throw .noSuchClass }
        return itemClass
    }

    private mutating func add(_ key: String, _ value: QueryValue) throws(SecurityStatus) {
        // CFNull is a date for kSecMatchValidOnDate: now.
        guard value != .null || key == "m_ValidOnDate" else { throw .param }
        if AttributeTerms.isAttribute(key) { return try attributes.add(key, value) }
        switch key.utf8.first {
        case UInt8(ascii: "m"): try add(match: key, value)
        case UInt8(ascii: "r"):
            hasReturnKeys = true
            try returns.add(key, value)
        case UInt8(ascii: "u"): try use.add(key, value)
        case UInt8(ascii: "v"): try add(value: key, value)
        // Private: call-backs and flags.
        case UInt8(ascii: "f") where key.utf8.count > 1: break
        default: throw .param
        }
    }

    private mutating func add(match key: String, _ value: QueryValue) throws(SecurityStatus) {
        if key == QueryKey.limit {
            limit = try MatchLimit(value)
        } else {
            hasMatchKeys = true
            try match.add(key, value, for: itemClass)
        }
    }

    private mutating func add(value key: String, _ value: QueryValue) throws(SecurityStatus) {
        switch key {
        case QueryKey.data: data = ValueData(value)
        case QueryKey.persistentReference: break
        // kSecValueRef too: a password has none, and there are only passwords.
        default: throw .param
        }
    }
}

/// kSecValueData in a dictionary. A search ignores it.
enum ValueData: Hashable, Sendable {
    case none
    /// A CFData, whose bytes are elsewhere.
    case given
    /// Text, CFNull and what else is no CFData.
    case invalid

    init(_ value: QueryValue) { self = value == .secret ? .given : .invalid }
}
