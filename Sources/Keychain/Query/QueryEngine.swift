/// The four functions of Keychain Services on a keychain, with the semantics of Apple's data-protection keychain.
///
/// Thread-safe. Secrets are passed as sources and returned sealed.
package struct QueryEngine: Sendable {
    package let keychain: KeychainStore
    /// The maximum size of kSecValueData in bytes.
    package let valueLimit: Int
    let hints = PersistentReferenceCache()

    package init(keychain: KeychainStore, valueLimit: Int = 1 << 20) {
        self.keychain = keychain
        self.valueLimit = valueLimit
        keychain.keys.watch { [weak hints] state in
            if state != .unlocked { hints?.forget() }
        }
    }

    func search(_ query: ItemQuery) -> ItemSearch { ItemSearch(query, in: keychain, hints: hints) }
}
