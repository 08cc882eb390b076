/// The keys that newer ones have replaced, during a rekey.
package struct OldKeys: Hashable, Sendable {
    /// The class keys of items.
    package var generations: Set<KeyGeneration>
    /// The generation of the newest master keys. Those below it are old.
    package var masterGeneration: Int64

    package init(_ generations: Set<KeyGeneration>, mastersBefore masterGeneration: Int64) {
        self.generations = generations
        self.masterGeneration = masterGeneration
    }
}

/// Numbers of rows under old keys.
package struct OldRowCounts: Hashable, Sendable {
    package var items = 0
    package var directories = 0
    package var past = 0

    package init(items: Int = 0, directories: Int = 0, past: Int = 0) {
        (self.items, self.directories, self.past) = (items, directories, past)
    }

    /// Whether no number is above that of `other`.
    func isWithin(_ other: OldRowCounts) -> Bool {
        items <= other.items && directories <= other.directories && past <= other.past
    }
}
