extension RecordStore {
    /// Runs `body` in a transaction, with its part in the digest: how every change of a keychain is made.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` if the header row is damaged: nothing is
    ///   changed then, because the new header would hide it.
    func write<Result>(
        by ledger: DigestLedger, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let digest = try ledger.digest()
        return try write(ending: ledger) { (writer) throws(KeychainFault) in
            let digesting = DigestingWriter(writer, digest: digest, indexes: ledger.indexes, before: ledger.directories)
            let result = try body(digesting)
            ledger.add(digesting.difference)
            return result
        }
    }
}
