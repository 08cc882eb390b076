import SecretCrypto

/// What one guess of the passphrase costs.
public enum KDFCost: Sendable {
    /// At least 256 MiB and 3 passes of Argon2id; more passes where the machine makes them in about a second.
    case moderate
    /// At least 1 GiB and 4 passes.
    case sensitive
    #if DEBUG
    /// Next to nothing: for tests, in debug builds only.
    case test
    #endif

    /// Measures this machine; takes about as long as an unlock.
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
