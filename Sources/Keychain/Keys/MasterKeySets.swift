import SecretCrypto

/// The sets of master keys of a store: one, and during a rekey a further one for each rotation since its start. Rows name the
/// generation of the set that seals them.
struct MasterKeySets: Sendable {
    /// The set that seals new rows.
    let newest: MasterKeys
    /// The older sets, in the order of their generations.
    let older: [MasterKeys]
    /// The key that seals the sets in the store, during a rekey: its end seals the newest set alone, without the user
    /// key. Revoked by a lock.
    let sealing: RevocableSecret?

    /// - Parameter older: The sets with the generations just below that of `newest`, the oldest first.
    init(newest: MasterKeys, older: [MasterKeys] = [], sealing: RevocableSecret? = nil) {
        self.newest = newest
        self.older = older
        self.sealing = sealing
    }

    var all: [MasterKeys] { older + [newest] }
    /// Whether rows may be under older sets: a rekey is in progress.
    var areSeveral: Bool { !older.isEmpty }

    subscript(generation: Int64) -> MasterKeys? {
        newest.generation == generation ? newest : older.first { $0.generation == generation }
    }

    /// Returns these sets, except that generations which `present` has too stay the same objects, for their present users.
    func keeping(_ present: MasterKeySets) -> MasterKeySets {
        MasterKeySets(
            newest: present[newest.generation] ?? newest, older: older.map { present[$0.generation] ?? $0 },
            sealing: sealing)
    }

    /// The newest set alone.
    var withoutOlder: MasterKeySets { MasterKeySets(newest: newest) }

    /// Wipes all keys. Returns when no thread uses them.
    func revoke() {
        for keys in all { keys.revoke() }
        sealing?.revoke()
    }
}
