import SecretCrypto

/// The values of `--kdf`: the cost of a guess of the passphrase.
package enum KDFCostOption: String, CaseIterable, Sendable {
    /// At least 256 MiB and 3 passes; more passes if the machine calculates them in about a second.
    case moderate
    /// At least 1 GiB and 4 passes.
    case sensitive
    #if DEBUG
    /// Minimal, for tests; in debug builds only.
    case test
    /// About a third of a second, for tests that need a derivation in progress; in debug builds only.
    case testSlow = "test-slow"
    #endif

    /// The value for a keychain that `mount --create` creates.
    package static var standard: KDFCostOption { .moderate }

    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The cost on this machine. The measurement takes about as long as an unlock.
    var cost: Argon2id.Cost {
        switch self {
        case .moderate: Argon2id.calibrated(from: .moderate, seconds: 1)
        case .sensitive: Argon2id.calibrated(from: .sensitive, seconds: 1)
        #if DEBUG
        case .test: Argon2id.Cost(passes: 1, memory: 64 << 10)
        case .testSlow: Argon2id.Cost(passes: 6, memory: 64 << 20)
        #endif
        }
    }
}
