import Foundation

/// Values as JSON for scripts: one object with sorted keys.
package protocol JSONText: Codable {}

extension JSONText {
    /// The JSON as bytes, with a newline at the end.
    package var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Encoding strings and numbers does not fail.
        let data = (try? encoder.encode(self)) ?? Data()
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// The JSON as text, without the newline.
    package var jsonText: String { String(decoding: json.dropLast(), as: UTF8.self) }

    package init(json: [UInt8]) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json))
    }
}
