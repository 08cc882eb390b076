import SecretCrypto

/// The contents of a copy of a store that has been prepared to leave this device.
package struct BackupContents: Hashable, Sendable {
    package let items: Int
    /// The number of items that never are in a backup, whose rows were removed from the copy.
    package let leftOut: Int
    /// The number of past values that were removed from the copy.
    package let pastLeftOut: Int
    /// The number of the last commit in the copy.
    package let commitNumber: Int64
    /// Whether the indexes of the copy refer to all its rows and to nothing else.
    package let areIndexesConsistent: Bool
}

extension KeychainStore {
    /// The class that never is in a backup (contract, section 4).
    private static let staying = ProtectionClass.whenPasscodeSetThisDeviceOnly

    /// Removes from a copy of this store the items and past values of WhenPasscodeSetThisDeviceOnly and the keys of that class,
    /// in one transaction of the copy. Does not change the store itself.
    ///
    /// The copy's header row matches the remaining rows. Its commit number stays, or is decremented if items or past values
    /// were removed, so that such a copy cannot replace the store without being detected.
    ///
    /// - Parameter withoutPast: Whether all past values are removed.
    /// - Throws: `interactionNotAllowed` before the first unlock, when the rows of the copy cannot be verified.
    package func prepareBackup(
        _ copy: any RecordWriter, withoutPast: Bool = false
    ) throws(KeychainFault) -> BackupContents {
        let digest = try keys.ledger.digest()
        let store = try copy.store()
        var header = try digest.header(of: store)
        let writer = DigestingWriter(copy, digest: digest)
        let leftOut = try writer.deleteItems(of: Self.staying)
        let pastLeftOut = try writer.deletePastValues(of: withoutPast ? nil : Self.staying)
        for key in try writer.classKeys() where key.purpose == .protection(Self.staying) {
            try writer.deleteClassKey(key)
        }
        header.sums += writer.difference.total()
        header.past.add(writer.difference.pastBytes)
        if leftOut + pastLeftOut > 0 {
            header.commit = max(0, header.commit - 1)
            header.commitID = SecureRandom.bytes(StoreHeader.commitIDCount)
        }
        try copy.put(digest.sealed(header, for: store))
        return BackupContents(
            items: try copy.itemCount(), leftOut: leftOut, pastLeftOut: pastLeftOut, commitNumber: header.commit,
            areIndexesConsistent: try copy.compareIndexes().areConsistent)
    }

    /// Returns the number of the last commit.
    ///
    /// - Throws: `decode` if the store's header is not authentic; `interactionNotAllowed` before the first unlock.
    package func commitNumber() throws(KeychainFault) -> Int64 {
        try keys.commitNumber()
    }
}
