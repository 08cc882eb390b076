internal import Foundation
internal import KeychainRPC

/// The terms of a caller's dictionary, with the data of ``kSecValueData`` separate from them.
struct ItemDictionary {
    private(set) var terms: [String: PropertyList] = [:]
    /// The data of kSecValueData, which the caller owns; nil if that key has no data.
    private(set) var data: Data?

    /// - Throws: ``errSecParam`` for a key that is not a string.
    init(_ dictionary: CFDictionary) throws(Failure) {
        var conversion = PropertyListConversion()
        for (key, value) in dictionary {
            guard let key = key as? String else { throw Failure(status: errSecParam) }
            guard key == Self.dataKey else {
                terms[key] = conversion.value(of: value)
                continue
            }
            // A value that is not data is refused. It may still be the secret, so it is not sent.
            data = value as? Data
            terms[key] = data == nil ? .object : .secret(0)
        }
    }

    struct Failure: Error {
        let status: OSStatus
    }

    /// Removes the secret, which a search ignores.
    mutating func dropData() {
        guard data != nil else { return }
        data = nil
        terms[Self.dataKey] = nil
    }

    /// Whether the caller requests a result.
    var asksForResult: Bool { Self.returnKeys.contains { terms[$0] == .boolean(true) } }

    /// Removes the request for a result, for a caller without a place for it. Values of a wrong type stay.
    mutating func askForNoResult() {
        for key in Self.returnKeys where terms[key] == .boolean(true) { terms[key] = .boolean(false) }
    }

    private static let dataKey = "v_Data"
    private static let returnKeys = ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"]
}
