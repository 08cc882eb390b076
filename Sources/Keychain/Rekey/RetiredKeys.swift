import SecretCrypto

/// Keys that nothing in the store needs any more, as long as an open descriptor reads the value of its open by them
/// (contract, F3): a lock takes them away like all others, and with the last descriptor they are wiped.
struct RetiredKeys {
    private struct Key {
        let purpose: KeyPurpose
        weak var secret: RevocableSecret?
    }

    private var keys: [Key] = []

    mutating func add(_ classKeys: [ClassKeys]) {
        keys.removeAll { $0.secret == nil }
        for old in classKeys {
            for secret in [old.metadata, old.secret, old.exchange] {
                keys.append(Key(purpose: old.purpose, secret: secret))
            }
        }
    }

    /// Those that are still used, of the classes that the condition asks for.
    func inUse(where condition: (KeyPurpose) -> Bool) -> [RevocableSecret] {
        keys.compactMap { condition($0.purpose) ? $0.secret : nil }
    }
}
