import Foundation
import TestSupport

/// The extent of a test that has more cases than a run can try: a fixed number of them, the same on every machine, or as many as
/// fit in `KEYCHAINFS_PROOF_SECONDS`. `KEYCHAINFS_PROOF_SEED` names the first case.
struct ProofLength {
    let isLong: Bool
    private let cases: Int
    private let seconds: Double
    private let start = Date()
    private let seed: UInt64

    /// - Parameter cases: The number of cases in the lane of all tests; the other lanes use a half.
    init(cases: Int) {
        let environment = ProcessInfo.processInfo.environment
        let long = environment["KEYCHAINFS_PROOF_SECONDS"].flatMap(Double.init)
        isLong = long != nil
        seconds = long ?? 0
        self.cases = TestLane.isComplete ? cases : (cases + 1) / 2
        seed = environment["KEYCHAINFS_PROOF_SEED"].flatMap(UInt64.init) ?? 0
    }

    /// - Parameter count: The number of cases tried before.
    func isOver(after count: Int) -> Bool {
        isLong ? -start.timeIntervalSinceNow > seconds : count >= cases
    }

    /// The numbers below `count`, each once, in an order that visits every region early. Equal for equal seeds.
    func spread(_ count: Int) -> some Sequence<Int> {
        // A step that is coprime with the count visits every number.
        var step = max(1, Int(Double(count) * 0.618))
        while gcd(step, count) != 1 { step += 1 }
        let first = Int(seed % UInt64(max(1, count)))
        return (0..<count).lazy.map { (first + $0 * step) % count }
    }

    /// The sequence of ``spread(_:)``, repeated.
    func spread(_ count: Int, rounds: Int) -> some Sequence<Int> {
        (0..<rounds).lazy.flatMap { _ in spread(count) }
    }

    private func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }

    /// Prints the number of cases for the scripts of `Tests/Proofs`.
    func report(_ name: String, cases: Int) {
        if isLong { print("proof \(name): \(cases)") }
    }
}
