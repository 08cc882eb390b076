import Foundation

/// How much of a long proof a run does: a part of all cases, so that the tests stay short, or as many as fit in the time
/// that `KEYCHAINFS_PROOF_SECONDS` allows, from the case on that `KEYCHAINFS_PROOF_SEED` names.
struct ProofLength {
    let isLong: Bool
    private let seconds: Double
    private let start = Date()
    let seed: UInt64

    /// `short`: seconds of a run in the tests.
    init(short: Double) {
        let environment = ProcessInfo.processInfo.environment
        let long = environment["KEYCHAINFS_PROOF_SECONDS"].flatMap(Double.init)
        isLong = long != nil
        seconds = long ?? short
        seed = environment["KEYCHAINFS_PROOF_SEED"].flatMap(UInt64.init) ?? 0
    }

    var isOver: Bool { -start.timeIntervalSinceNow > seconds }

    /// Numbers below `count`, each once, spread: a run that is cut off has seen every part. Equal for equal seeds.
    func spread(_ count: Int) -> some Sequence<Int> {
        // A step without a common divisor visits every number.
        var step = max(1, Int(Double(count) * 0.618))
        while gcd(step, count) != 1 { step += 1 }
        let first = Int(seed % UInt64(max(1, count)))
        return (0..<count).lazy.map { (first + $0 * step) % count }
    }

    /// All of them so many times, in the same order.
    func spread(_ count: Int, rounds: Int) -> some Sequence<Int> {
        (0..<rounds).lazy.flatMap { _ in spread(count) }
    }

    private func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }

    /// For `Tests/Proofs`.
    func tell(_ what: String, cases: Int) {
        if isLong { print("proof \(what): \(cases)") }
    }
}
