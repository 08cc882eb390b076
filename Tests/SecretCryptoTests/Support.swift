import Dispatch
import SecretCrypto
import Synchronization
import TestSupport

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

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// Runs `body` on a separate thread and signals its end.
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
