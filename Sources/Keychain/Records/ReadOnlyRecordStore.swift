/// A view of another store that permits no changes.
package struct ReadOnlyRecordStore: RecordStore {
    private let base: any RecordStore

    package init(_ base: any RecordStore) {
        self.base = base
    }

    package var isReadOnly: Bool { true }
    package var isInPlace: Bool { base.isInPlace }
    package var logBytes: Int { base.logBytes }
    package var freeBytes: Int { base.freeBytes }

    package func read<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try base.read(body)
    }

    package func readExclusively<Result>(
        _ body: (any RecordReader) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try base.readExclusively(body)
    }

    package func awaitReads() { base.awaitReads() }

    package func write<Result>(
        ending: (any TransactionEnding)?, _ body: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        throw .readOnly
    }

    package func truncateLog() throws(KeychainFault) {}
    package func eraseLogSoon() {}
    package func watchExternalChanges(_ body: @escaping @Sendable () -> Void) { base.watchExternalChanges(body) }
    package func findExternalChanges() throws(KeychainFault) { try base.findExternalChanges() }
    package func verifyStructure() throws(KeychainFault) -> Int { try base.verifyStructure() }
    package func close() { base.close() }
}
