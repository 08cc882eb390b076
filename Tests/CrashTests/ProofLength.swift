import Foundation

/// How long these tests run: a few hundred cases, or so many seconds, or one case alone.
enum ProofLength {
    private static let environment = ProcessInfo.processInfo.environment

    /// `KEYCHAINFS_PROOF_SECONDS`; nil in an ordinary run of the tests.
    static let seconds = environment["KEYCHAINFS_PROOF_SECONDS"].flatMap(Double.init)

    /// `KEYCHAINFS_CRASH_SEED`: the first of the seeds.
    static let seed = environment["KEYCHAINFS_CRASH_SEED"].flatMap(UInt64.init) ?? freshSeed

    /// The same in each ordinary run.
    private static let freshSeed = seconds == nil ? 1 : UInt64.random(in: 1...1 << 40)

    /// `KEYCHAINFS_CRASH_CASE`: the one case that is to be repeated, as a failure names it.
    static let onlyCase = environment["KEYCHAINFS_CRASH_CASE"]

    /// How a failure is repeated.
    static func command(seed: UInt64, test: String, case name: String) -> String {
        "KEYCHAINFS_PROOF_SECONDS=1 KEYCHAINFS_CRASH_SEED=\(seed) KEYCHAINFS_CRASH_CASE='\(name)' "
            + "swift test --filter CrashTests.\(test)"
    }

    /// Runs `body` with one seed after the other until the time is over; once in an ordinary run. Says how many cases held.
    static func repeating(_ body: (UInt64, _ deadline: ContinuousClock.Instant?) throws -> Int) rethrows {
        let end = seconds.map { ContinuousClock.now + .seconds($0) }
        var count = 0
        var seed = seed
        repeat {
            count += try body(seed, end)
            seed += 1
        } while onlyCase == nil && end.map { ContinuousClock.now < $0 } ?? false
        print("cases held: \(count)")
    }
}
