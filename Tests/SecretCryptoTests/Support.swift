import Dispatch
import SecretCrypto
import Synchronization

/// Bytes written in hexadecimal; blanks and line ends do not count.
func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func secret(_ bytes: [UInt8], in arena: SecretArena = .shared) throws -> SecretBytes {
    try SecretBytes(copying: bytes.rawSpan, in: arena)
}

func plain(_ secret: borrowing SecretBytes) -> [UInt8] {
    [UInt8](copying: secret.bytes)
}

/// The error of `body`. For bodies that hold spans, which the closure of `#expect(throws:)` cannot.
func failure(of body: () throws -> Void) -> CryptoError? {
    do {
        try body()
        return nil
    } catch {
        return error as? CryptoError
    }
}

/// A reproducible generator (SplitMix64), so that a failing run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// Runs `body` on a thread of its own and tells when it is over.
struct Background {
    private let group = DispatchGroup()

    init(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "test").async(group: group, execute: body)
    }

    /// Whether it ended within `seconds`.
    func ends(within seconds: Double) -> Bool {
        group.wait(timeout: .now() + seconds) == .success
    }
}
