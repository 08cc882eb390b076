/// Maintains the tags and names under the Always keys, by which directories are found before the first unlock: a
/// directory has them while it contains an Always item, and a container while it contains such a directory (contract,
/// S3).
extension Transaction {
    /// Called after an item's row was added, changed, moved or removed.
    func moveAlwaysName(from old: ItemRecord?, to new: ItemRecord?) throws(KeychainFault) {
        let left = old?.alwaysTag == nil ? nil : old?.directory
        let entered = new?.alwaysTag == nil ? nil : new?.directory
        guard left != entered else { return }
        if let entered { try addAlwaysName(entered) }
        if let left { try dropAlwaysName(left) }
    }

    /// Called after a directory has been moved from one container to another.
    func updateAlwaysNames(of containers: [RowID]) throws(KeychainFault) {
        for container in containers {
            if try holdsAlways(container) { try addAlwaysName(container) } else { try dropAlwaysName(container) }
        }
    }

    /// Whether the row must be found before the first unlock.
    func holdsAlways(_ directory: RowID) throws(KeychainFault) -> Bool {
        if try writer.holdsAlwaysItem(directory) { return true }
        return try writer.holdsAlwaysDirectory(directory)
    }

    private func addAlwaysName(_ id: RowID) throws(KeychainFault) {
        guard let record = try writer.directory(id: id), record.alwaysTag == nil else { return }
        try reseal(record, alsoAlways: true)
        if record.parent != .none { try addAlwaysName(record.parent) }
    }

    private func dropAlwaysName(_ id: RowID) throws(KeychainFault) {
        do throws(KeychainFault) {
            guard try !holdsAlways(id), let record = try writer.directory(id: id), record.alwaysTag != nil else {
                return
            }
            try reseal(record, alsoAlways: false)
            if record.parent != .none { try dropAlwaysName(record.parent) }
        } catch .decode {
            // A damaged directory must not prevent that an item is removed.
        }
    }

    private func reseal(_ record: DirectoryRecord, alsoAlways: Bool) throws(KeychainFault) {
        var directory = try keychain.directoryEnvelope.open(record)
        directory.version += 1
        try writer.put(try keychain.directoryEnvelope.seal(directory, alsoAlways: alsoAlways))
    }
}
