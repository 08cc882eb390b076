import KeychainRPC

/// An item without its secret, as of the search that found it.
public struct Item: Hashable, Sendable {
    /// The reference, which finds the item again even if its key has changed.
    public let reference: ItemReference
    /// The primary key; nil if a part of it is not text.
    public let key: ItemKey?
    /// All attributes that are set.
    public let attributes: ItemAttributes
    public let creationDate: ItemDate
    public let modificationDate: ItemDate

    /// Creates an item from an entry of a response; nil if the entry is not an item's dictionary.
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

/// A reference to an item for its lifetime, through renames and changes (kSecValuePersistentRef). Programs store its
/// bytes.
public struct ItemReference: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }
}

/// A point in time.
public struct ItemDate: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    public let secondsSince1970: Double

    /// The seconds from the beginning of 1970 to that of 2001.
    private static let offset: Double = 978_307_200

    init(secondsSince2001: Double) { secondsSince1970 = secondsSince2001 + Self.offset }

    public static func < (a: ItemDate, b: ItemDate) -> Bool { a.secondsSince1970 < b.secondsSince1970 }
}
