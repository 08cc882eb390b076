extension RecordStore {
    /// Runs `body` in a transaction and updates the digest. Every change of a keychain uses this.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` if the header row is damaged. Nothing is
    ///   changed then, because the new header would hide the damage.
    func write<Result>(
        by ledger: DigestLedger, _ body: (DigestingWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try write(ending: ledger) { (writer) throws(KeychainFault) in
            // Within the transaction: the one before it may have replaced the keys.
            let digest = try ledger.digest()
            let digesting = DigestingWriter(writer, digest: digest, ledger: ledger)
            let result = try body(digesting)
            ledger.add(digesting.difference)
            return result
        }
    }
}
