import SecretCrypto

/// The cost of one guess of the passphrase.
public enum KDFCost: Sendable {
    /// At least 256 MiB and 3 passes of Argon2id; more passes if the machine computes them in about a second.
    case moderate
    /// At least 1 GiB and 4 passes of Argon2id.
    case sensitive
    #if DEBUG
    /// The minimum, for tests; in debug builds only.
    case test
    #endif

    /// Measures this machine, which takes about as long as an unlock.
    var cost: Argon2id.Cost {
        switch self {
        case .moderate: Argon2id.calibrated(from: .moderate, seconds: 1)
        case .sensitive: Argon2id.calibrated(from: .sensitive, seconds: 1)
        #if DEBUG
        case .test: Argon2id.Cost(passes: 1, memory: 64 << 10)
        #endif
        }
    }
}
