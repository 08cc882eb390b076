extension RecordStore {
    /// Runs `body` in a transaction and updates the digest. Every change of a keychain uses this.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` if the header row is damaged. Nothing is
    ///   changed then, because the new header would hide the damage.
    func write<Result>(
        by ledger: DigestLedger, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let digest = try ledger.digest()
        return try write(ending: ledger) { (writer) throws(KeychainFault) in
            let digesting = DigestingWriter(
                writer, digest: digest, indexes: ledger.indexes, before: ledger.directories,
                reserveRowID: ledger.reserveRowID)
            let result = try body(digesting)
            ledger.add(digesting.difference)
            return result
        }
    }
}
