import Foundation

/// The length of these tests: a few hundred cases, a duration in seconds, or a single case.
enum ProofLength {
    private static let environment = ProcessInfo.processInfo.environment

    /// `KEYCHAINFS_PROOF_SECONDS`; nil in an ordinary run of the tests.
    static let seconds = environment["KEYCHAINFS_PROOF_SECONDS"].flatMap(Double.init)

    /// `KEYCHAINFS_CRASH_SEED`: the first of the seeds.
    static let seed = environment["KEYCHAINFS_CRASH_SEED"].flatMap(UInt64.init) ?? freshSeed

    /// The first seed: fixed in an ordinary run, random in a long one.
    private static let freshSeed = seconds == nil ? 1 : UInt64.random(in: 1...1 << 40)

    /// `KEYCHAINFS_CRASH_CASE`: the one case to repeat, as a failure prints it.
    static let onlyCase = environment["KEYCHAINFS_CRASH_CASE"]

    /// The command that repeats a failure.
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
