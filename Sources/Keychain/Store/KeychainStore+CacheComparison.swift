import Synchronization

/// Compares the cache with the store in debug builds, so that a missing invalidation is detected when the old row is
/// returned.
extension KeychainStore {
    func compareWithStore(_ item: Item) {
        assert(isStored(item), "the cache has returned an item that has changed")
    }

    func compareWithStore(_ directory: Directory) {
        assert(isStored(directory), "the cache has returned a directory that has changed")
    }

    private func isStored(_ item: Item) -> Bool {
        guard comparesCache.load(ordering: .relaxed) else { return true }
        do {
            return try self.item(id: item.id) == item
        } catch {
            return true
        }
    }

    private func isStored(_ directory: Directory) -> Bool {
        guard comparesCache.load(ordering: .relaxed) else { return true }
        do {
            return try store.read { (reader) throws(KeychainFault) in
                try reader.directory(id: directory.id).map { (record) throws(KeychainFault) in
                    try directoryEnvelope.open(record)
                }
            } == directory
        } catch {
            return true
        }
    }
}
