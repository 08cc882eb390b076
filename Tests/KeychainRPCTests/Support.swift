import KeychainRPC
import KeychainTesting
import SecretCrypto
import TestSupport

extension ResponseFrame {
    /// The bytes of every secret.
    borrowing func secrets() -> [[UInt8]] {
        var found: [[UInt8]] = []
        for index in 0..<secretCount {
            if let secret = secret(index) { found.append([UInt8](copying: secret)) }
        }
        return found
    }
}

extension PropertyList {
    private static let texts = [
        "", "a", "acct", "é", "e\u{301}", "日本", "🔑", "\u{0}", "a longer text than fits in a word",
    ]
    private static let numbers: [Int64] = [
        0, 1, 127, 128, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max, -1, -128, .min,
    ]

    /// A value of any kind that Foundation has too.
    static func random(_ generator: inout SeededGenerator, depth: Int = 0) -> PropertyList {
        switch Int.random(in: 0..<(depth < 4 ? 8 : 6), using: &generator) {
        case 0: .string(texts.randomElement(using: &generator) ?? "")
        case 1: .data((0..<Int.random(in: 0..<40, using: &generator)).map { UInt8($0) })
        case 2: .integer(numbers.randomElement(using: &generator) ?? 0)
        case 3: .real(Double.random(in: -1e300...1e300, using: &generator))
        case 4: .boolean(Bool.random(using: &generator))
        case 5: .date(Double.random(in: -1e9...1e9, using: &generator))
        case 6:
            .array((0..<Int.random(in: 0..<20, using: &generator)).map { _ in random(&generator, depth: depth + 1) })
        default: .dictionary(dictionary(&generator, depth: depth + 1))
        }
    }

    static func dictionary(_ generator: inout SeededGenerator, depth: Int) -> [String: PropertyList] {
        var values: [String: PropertyList] = [:]
        for _ in 0..<Int.random(in: 0..<20, using: &generator) {
            let key = (texts.randomElement(using: &generator) ?? "") + "\(Int.random(in: 0..<9, using: &generator))"
            values[key] = random(&generator, depth: depth)
        }
        return values
    }
}
