import KeychainRPC

/// What can be set of an item beside its key and its secret. Nil: as it is.
public struct ItemAttributes: Hashable, Sendable {
    /// What a person sees (kSecAttrLabel).
    public var label: String?
    public var comment: String?
    /// What kind of item it is, for a person (kSecAttrDescription).
    public var itemDescription: String?
    public var accessibility: Accessibility?
    /// Not to be shown to a person.
    public var isInvisible: Bool?
    /// There is no valid password: a person has to be asked each time.
    public var isNegative: Bool?
    /// Anything of the program's; of generic passwords alone (kSecAttrGeneric).
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

    /// What is set, by the constants' values.
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
