import SecretCrypto

/// Keys that no row of the store uses any more, but an open descriptor whose value they seal (contract, F3). A lock
/// revokes them like all others, and they are wiped with the last descriptor.
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

    /// Returns the keys in use of the classes that meet the condition.
    func inUse(where condition: (KeyPurpose) -> Bool) -> [RevocableSecret] {
        keys.compactMap { condition($0.purpose) ? $0.secret : nil }
    }
}
