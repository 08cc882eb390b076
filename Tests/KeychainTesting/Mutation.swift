import TestSupport

/// A fault in bytes: a changed, removed, doubled or inserted byte, a boundary value, or no change.
package enum Mutation {
    private static let edges: [UInt8] = [0x00, 0x01, 0x0F, 0x7F, 0x80, 0x4F, 0x6F, 0xAF, 0xDF, 0x13, 0xFF]

    package static func apply(to bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            guard let place = bytes.indices.randomElement(using: &generator) else { return }
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[place] = edges.randomElement(using: &generator) ?? 0
            case 2: bytes.removeLast(bytes.count - place)
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 4: bytes += bytes[place...].prefix(40)
            default: bytes[place] = bytes.randomElement(using: &generator) ?? 0
            }
        }
    }
}
