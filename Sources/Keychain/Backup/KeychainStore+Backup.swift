/// What a copy of a store holds that has been made ready to leave this device.
package struct BackupContents: Hashable, Sendable {
    package let items: Int
    /// Items that are in no backup, whose rows were removed from the copy.
    package let leftOut: Int
    /// The number of the last commit in it.
    package let commitNumber: Int64
    /// Whether the indexes of the copy lead to all its rows and to nothing else.
    package let areIndexesConsistent: Bool
}

extension KeychainStore {
    /// The class that is in no backup (contract, section 4).
    private static let staying = ProtectionClass.whenPasscodeSetThisDeviceOnly

    /// Removes from a copy of this store what may not leave it: items of WhenPasscodeSetThisDeviceOnly and the keys of
    /// that class. All in one transaction of the copy; the store itself is not touched.
    ///
    /// The copy's header row is true to the rows that are left. Its commit number stays, or is one less if items are
    /// missing: such a copy must not stand in for the store unseen.
    /// - Throws: `interactionNotAllowed` before the first unlock: nobody could say then what rows the copy has.
    package func prepareBackup(_ copy: any RecordWriter) throws(KeychainFault) -> BackupContents {
        let digest = RowDigest(try keys.masterKeys())
        let old = try copy.store()
        var header = try digest.header(of: old)
        let writer = DigestingWriter(copy, digest: digest)
        let leftOut = try writer.deleteItems(of: Self.staying)
        for key in try writer.classKeys() where key.purpose == .protection(Self.staying) {
            try writer.deleteClassKey(key)
        }
        var new = old
        new.highestRow = max(old.highestRow, writer.difference.retired)
        header.rows += writer.difference.total()
        header.rows += try digest.sum(new) - digest.sum(old)
        if leftOut > 0 { header.commit = max(0, header.commit - 1) }
        try copy.put(digest.sealed(header, store: old.identifier), highestRow: new.highestRow)
        return BackupContents(
            items: try copy.itemCount(), leftOut: leftOut, commitNumber: header.commit,
            areIndexesConsistent: try copy.compareIndexes().areConsistent)
    }

    /// The number of the last commit; `decode` if the store's header is not what was sealed, `interactionNotAllowed`
    /// before the first unlock.
    package func commitNumber() throws(KeychainFault) -> Int64 {
        let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
        return try keys.header(of: record).commit
    }
}
