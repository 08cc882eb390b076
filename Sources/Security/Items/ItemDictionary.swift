internal import Foundation
internal import KeychainRPC

/// The terms of a dictionary that a caller has passed, and beside them the data of ``kSecValueData``.
struct ItemDictionary {
    private(set) var terms: [String: PropertyList] = [:]
    /// The data of kSecValueData, the caller's own bytes; nil if there is no data under that key.
    private(set) var data: Data?

    /// - Throws: ``errSecParam`` for a key that is no string.
    init(_ dictionary: CFDictionary) throws(Failure) {
        var conversion = PropertyListConversion()
        for (key, value) in dictionary {
            guard let key = key as? String else { throw Failure(status: errSecParam) }
            guard key == Self.dataKey else {
                terms[key] = conversion.value(of: value)
                continue
            }
            // What is no data is refused, but it may be the secret all the same: it does not travel.
            data = value as? Data
            terms[key] = data == nil ? .object : .secret(0)
        }
    }

    struct Failure: Error {
        let status: OSStatus
    }

    /// Leaves the secret out, for a search, which ignores it.
    mutating func dropData() {
        guard data != nil else { return }
        data = nil
        terms[Self.dataKey] = nil
    }

    /// Whether a result is asked for.
    var asksForResult: Bool { Self.returnKeys.contains { terms[$0] == .boolean(true) } }

    /// Asks for no result any more, for a caller who has no place for one. Values of a wrong type stay.
    mutating func askForNoResult() {
        for key in Self.returnKeys where terms[key] == .boolean(true) { terms[key] = .boolean(false) }
    }

    private static let dataKey = "v_Data"
    private static let returnKeys = ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"]
}
