import KeychainRPC

/// An item without its secret, as it was when it was found.
public struct Item: Hashable, Sendable {
    /// Finds it again, whatever its key is by then.
    public let reference: ItemReference
    /// Nil if a part of it is no text.
    public let key: ItemKey?
    /// All those that are set.
    public let attributes: ItemAttributes
    public let creationDate: ItemDate
    public let modificationDate: ItemDate

    /// Nil for what is no item's dictionary.
    init?(_ entry: PropertyList) {
        guard case .dictionary(let values) = entry, case .data(let reference)? = values["v_PersistentRef"],
            case .date(let created)? = values["cdat"], case .date(let modified)? = values["mdat"]
        else { return nil }
        self.reference = ItemReference(bytes: reference)
        key = ItemKey(values)
        attributes = ItemAttributes(values)
        creationDate = ItemDate(secondsSince2001: created)
        modificationDate = ItemDate(secondsSince2001: modified)
    }
}

/// Names an item for as long as it lives, through renames and changes (kSecValuePersistentRef). To be kept as bytes.
public struct ItemReference: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// A moment.
public struct ItemDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, as the system counts them.
    public let secondsSince1970: Double

    /// From the beginning of 1970 to that of 2001.
    private static let offset: Double = 978_307_200

    init(secondsSince2001: Double) { secondsSince1970 = secondsSince2001 + Self.offset }

    public static func < (a: ItemDate, b: ItemDate) -> Bool { a.secondsSince1970 < b.secondsSince1970 }
}
