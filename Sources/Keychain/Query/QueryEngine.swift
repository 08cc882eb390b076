/// The four functions of Keychain Services on a keychain: what a dictionary asks for is found, added, changed, deleted
/// with the semantics of Apple's data-protection keychain.
///
/// Can be used by several threads. Secrets go in as sources and come out sealed.
package struct QueryEngine: Sendable {
    package let keychain: KeychainStore
    /// The longest value of kSecValueData, in bytes.
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
