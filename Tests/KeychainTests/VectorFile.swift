import Foundation
import SecretCrypto
import Testing

/// `Tests/StoreFormat/vectors.json`, made by the independent reader (`Tests/StoreFormat/make-vectors`) from the format's
/// document alone.
enum VectorFile {
    /// Decodes the parts of the file that a type contains.
    static func decode<Vectors: Decodable>(_ type: Vectors.Type) throws -> Vectors {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../StoreFormat/vectors.json").standardizedFileURL
        return try JSONDecoder().decode(type, from: Data(contentsOf: file))
    }
}

/// Bytes as hexadecimal digits; `61*100` between spaces is a hundred of one byte.
struct Hex: Decodable, CustomStringConvertible, Sendable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        bytes = try text.split(separator: " ").flatMap { piece in
            let parts = piece.split(separator: "*")
            let bytes = try Self.bytes(Array(parts[0].utf8))
            return parts.count == 1 ? bytes : [UInt8](repeating: bytes[0], count: try #require(Int(parts[1])))
        }
    }

    private static func bytes(_ digits: [UInt8]) throws -> [UInt8] {
        try stride(from: 0, to: digits.count, by: 2).map { index in
            let byte = String(decoding: digits[index..<min(index + 2, digits.count)], as: UTF8.self)
            return try #require(UInt8(byte, radix: 16))
        }
    }

    var description: String { String(decoding: bytes, as: UTF8.self) }

    func secret() throws -> SecretBytes { try SecretBytes(copying: bytes.rawSpan) }
}
