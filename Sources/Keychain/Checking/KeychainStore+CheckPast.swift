extension KeychainStore {
    private static let pastPageSize = 128

    /// Opens every past value, and compares the number of their bytes and the numbers of all rows with the header. Does nothing
    /// before the first unlock.
    func checkPast(_ report: inout CheckReport) throws(KeychainFault) {
        guard keys.state.isAfterFirstUnlock else { return }
        var after = RowID(rawValue: .min)
        while true {
            let (last, page) = (after, Self.pastPageSize)
            let ids = try nilIfDamaged { () throws(KeychainFault) in
                try store.read { (reader) throws(KeychainFault) in try reader.pastIDs(after: last, limit: page) }
            }
            // The structure is damaged, which is reported.
            guard let ids else { break }
            report.visitedRows += ids.count
            for id in ids { try checkPast(id, &report) }
            guard ids.count == page, let last = ids.last else { break }
            after = last
        }
        try compareWithHeader(&report)
    }

    private func checkPast(_ id: RowID, _ report: inout CheckReport) throws(KeychainFault) {
        let found = try nilIfDamaged { () throws(KeychainFault) in
            try store.read { (reader) throws(KeychainFault) -> Bool? in
                guard let (record, ciphertext) = try reader.pastWithSecret(id: id) else { return nil }
                let isComplete = try pastEnvelope.verify(record, ciphertext: ciphertext).isComplete
                return !isComplete && !keys.isForeign(record.protection, generation: record.generation)
            }
        }
        guard let found else { return report.damagedPast.append(id) }
        // Otherwise deleted in the meantime.
        guard let isLocked = found else { return }
        if isLocked { report.unavailable += 1 } else { report.pastValues += 1 }
    }

    private func compareWithHeader(_ report: inout CheckReport) throws(KeychainFault) {
        let found = try nilIfDamaged { () throws(KeychainFault) in
            try keys.ledger.read(store) { (reader, header) throws(KeychainFault) in
                (
                    try reader.pastBytes() != header.past.bytes,
                    try reader.rowCount(header.nextRow...RowID(rawValue: .max)),
                    try reader.itemKeyCount()
                )
            }
        }
        guard let (areBytesWrong, newRows, itemKeys) = found else { return }
        report.arePastBytesWrong = areBytesWrong
        report.structureFaults += newRows
        report.visitedRows += itemKeys
    }
}
