/// The kSecReturn… keys that are true.
package struct ReturnKeys: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let data = ReturnKeys(rawValue: 1)
    package static let attributes = ReturnKeys(rawValue: 2)
    package static let reference = ReturnKeys(rawValue: 4)
    package static let persistentReference = ReturnKeys(rawValue: 8)

    private static let byKey: [String: ReturnKeys] = [
        "r_Data": .data, "r_Attributes": .attributes, "r_Ref": .reference, "r_PersistentRef": .persistentReference,
    ]

    /// Adds a key.
    ///
    /// - Throws: `param` for an unknown key, and for a value that is not a CFBoolean.
    mutating func add(_ key: String, _ value: QueryValue) throws(SecurityStatus) {
        guard let option = Self.byKey[key], case .boolean(let isWanted) = value else { throw .param }
        if isWanted { insert(option) }
    }
}
