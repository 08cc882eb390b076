import Foundation
import KeychainTesting
import ModelTesting
import TestSupport
import Testing

/// The number of random programs of a run, and their seeds: some that are always the same, then a new one; in a proof as many new
/// ones as the time permits.
///
/// KEYCHAINFS_MODEL_SEED repeats one program, KEYCHAINFS_MODEL_LENGTH sets the number of steps of a program,
/// KEYCHAINFS_PROOF_SECONDS the time.
struct ModelRun {
    private let length: Int
    private let programs: UInt64
    private let proofSeconds: Double?
    private let seed: UInt64?
    private let suite: String

    /// - Parameter programs: The number of programs with known seeds.
    /// - Parameter length: The number of steps of each program.
    init(programs: UInt64, length: Int, suite: String) {
        let environment = ProcessInfo.processInfo.environment
        proofSeconds = environment["KEYCHAINFS_PROOF_SECONDS"].flatMap(Double.init)
        self.programs = programs
        self.length = environment["KEYCHAINFS_MODEL_LENGTH"].flatMap(Int.init) ?? length
        self.suite = suite
        seed = environment["KEYCHAINFS_MODEL_SEED"].flatMap(UInt64.init)
    }

    /// Compares a system with the model on each program, or on the one program whose seed was given.
    func compare<System: SystemUnderTest>(_ comparison: Comparison<System>, _ abilities: Generator.Capabilities) throws
    {
        try each { seed in
            let random = SeededGenerator(seed: seed)
            var generator = Generator(random, valueLimit: comparison.valueLimit, abilities: abilities)
            guard let found = try comparison.run(generator.program(length: length)) else { return true }
            print("model: seed \(seed) after \(found.steps) steps: \(found.what); looking for a shorter program")
            Issue.record("\(repeating(seed))\n\(try comparison.shrink(found))")
            return false
        }
    }

    /// Calls `body` with one seed after the other, until it returns false.
    private func each(_ body: (UInt64) throws -> Bool) throws {
        if let seed {
            _ = try body(seed)
            return
        }
        let deadline = Date(timeIntervalSinceNow: proofSeconds ?? 0)
        for seed in 1...programs {
            guard try body(seed) else { return }
        }
        let first = UInt64.random(in: 1000...UInt64(UInt32.max))
        var seed = first
        repeat {
            guard try body(seed) else { return }
            seed += 1
        } while Date() < deadline
        let count = Int(programs + seed - first)
        print("model: \(count * length) steps in \(count) programs held, the last from seeds \(first)..<\(seed)")
    }

    private func repeating(_ seed: UInt64) -> String {
        """
        seed \(seed); again: KEYCHAINFS_MODEL_SEED=\(seed) KEYCHAINFS_MODEL_LENGTH=\(length) \
        swift test --skip-build --filter ModelTests.\(suite)
        """
    }
}
