import Foundation
import KeychainTesting
import ModelTesting
import Testing

/// How long programs are run, and from which seed: a few always the same, then one that nobody has seen; in a proof many.
///
/// KEYCHAINFS_MODEL_SEED runs one program again, KEYCHAINFS_MODEL_LENGTH makes programs of so many steps,
/// KEYCHAINFS_PROOF_SECONDS sets the time.
struct ModelRun {
    private let length: Int
    private let seconds: Double
    private let seed: UInt64?
    private let suite: String
    private let isProof: Bool
    private static let known: ClosedRange<UInt64> = 1...12

    init(seconds: Double, length: Int, suite: String) {
        let environment = ProcessInfo.processInfo.environment
        let proof = environment["KEYCHAINFS_PROOF_SECONDS"].flatMap(Double.init)
        isProof = proof != nil
        self.seconds = proof ?? seconds
        self.length = environment["KEYCHAINFS_MODEL_LENGTH"].flatMap(Int.init) ?? length
        self.suite = suite
        seed = environment["KEYCHAINFS_MODEL_SEED"].flatMap(UInt64.init)
    }

    /// Compares a system with the model until the time is over, or with one seed alone if it was given.
    func compare<System: ModelledSystem>(_ comparison: Comparison<System>, _ abilities: Generator.Abilities) throws {
        try each { seed in
            let random = SeededGenerator(seed: seed)
            var generator = Generator(random, valueLimit: comparison.valueLimit, abilities: abilities)
            guard let found = try comparison.run(generator.program(length: length)) else { return true }
            print("model: seed \(seed) after \(found.steps) steps: \(found.what); looking for a shorter program")
            Issue.record("\(repeating(seed))\n\(try comparison.shrink(found))")
            return false
        }
    }

    /// Until `body` says false.
    private func each(_ body: (UInt64) throws -> Bool) throws {
        if let seed {
            _ = try body(seed)
            return
        }
        let deadline = Date(timeIntervalSinceNow: seconds)
        var programs = 0
        for seed in Self.known where Date() < deadline {
            guard try body(seed) else { return }
            programs += 1
        }
        let first = UInt64.random(in: 1000...UInt64(UInt32.max))
        var seed = first
        repeat {
            guard try body(seed) else { return }
            seed += 1
            programs += 1
        } while isProof && Date() < deadline
        print("model: \(programs * length) steps in \(programs) programs held, the last from seeds \(first)..<\(seed)")
    }

    private func repeating(_ seed: UInt64) -> String {
        """
        seed \(seed); again: KEYCHAINFS_MODEL_SEED=\(seed) KEYCHAINFS_MODEL_LENGTH=\(length) \
        swift test --skip-build --filter ModelTests.\(suite)
        """
    }
}
