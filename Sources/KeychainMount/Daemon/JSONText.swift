import Foundation

/// Values as JSON for scripts: one object, keys in order.
package protocol JSONText: Codable {}

extension JSONText {
    /// Ends in a newline.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // What is encoded are strings and numbers: that does not fail.
        let data = (try? encoder.encode(self)) ?? Data()
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// The same as text, without the newline.
    package var jsonText: String { String(decoding: json.dropLast(), as: UTF8.self) }

    package init(json: [UInt8]) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json))
    }
}
