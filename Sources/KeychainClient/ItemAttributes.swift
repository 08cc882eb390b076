import KeychainRPC

/// The attributes of an item outside its key and secret. In an update, nil leaves the attribute unchanged.
public struct ItemAttributes: Hashable, Sendable {
    /// The name for users (kSecAttrLabel).
    public var label: String?
    public var comment: String?
    /// The kind of the item, for users (kSecAttrDescription).
    public var itemDescription: String?
    public var accessibility: Accessibility?
    /// Whether programs hide the item from users.
    public var isInvisible: Bool?
    /// Whether there is no valid password, so that programs ask the user each time.
    public var isNegative: Bool?
    /// Application data; generic passwords only (kSecAttrGeneric).
    public var generic: [UInt8]?

    public init(
        label: String? = nil, comment: String? = nil, itemDescription: String? = nil,
        accessibility: Accessibility? = nil, isInvisible: Bool? = nil, isNegative: Bool? = nil, generic: [UInt8]? = nil
    ) {
        self.label = label
        self.comment = comment
        self.itemDescription = itemDescription
        self.accessibility = accessibility
        self.isInvisible = isInvisible
        self.isNegative = isNegative
        self.generic = generic
    }

    /// The set attributes, by the values of Apple's constants.
    var list: [String: PropertyList] {
        var list: [String: PropertyList] = [:]
        list["labl"] = label.map { .string($0) }
        list["icmt"] = comment.map { .string($0) }
        list["desc"] = itemDescription.map { .string($0) }
        list["pdmn"] = accessibility.map { .string($0.rawValue) }
        list["invi"] = isInvisible.map { .boolean($0) }
        list["nega"] = isNegative.map { .boolean($0) }
        list["gena"] = generic.map { .data($0) }
        return list
    }

    init(_ list: [String: PropertyList]) {
        self.init(
            label: list["labl"]?.text, comment: list["icmt"]?.text, itemDescription: list["desc"]?.text,
            accessibility: list["pdmn"]?.text.flatMap(Accessibility.init(rawValue:)),
            isInvisible: list["invi"]?.integer.map { $0 != 0 }, isNegative: list["nega"]?.integer.map { $0 != 0 })
        if case .data(let bytes)? = list["gena"] { generic = bytes }
    }
}
