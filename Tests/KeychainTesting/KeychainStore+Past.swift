@testable package import Keychain

/// Past values, which this program copies and verifies, but does not write yet.
extension KeychainStore {
    /// Makes a past value of an item, whose row is deleted unless `isKept`: then the past value has a copy of a short secret, as
    /// after a replacement of the value.
    ///
    /// - Returns: The row of the past value.
    @discardableResult
    package func makePast(
        _ item: RowID, isKept: Bool = false, later: [LaterField] = []
    ) throws(KeychainFault) -> RowID {
        let past = try keys.ledger.reserveRowID()
        return try change { (transaction) throws(KeychainFault) in
            guard let (row, ciphertext) = try transaction.writer.itemWithSecret(id: item) else { throw .itemNotFound }
            let opened = try itemEnvelope.open(row)
            let tag = try pastEnvelope.tag(persistentReference: opened.persistentReference)
            let place = PastInfo.Place(.genericPassword, service: .generic(service: .string("a service")))
            var info = PastInfo(
                place: place, date: now(), storeTime: 7, reason: isKept ? .replaced : .deleted, row: row)
            info.laterFields = later
            var record = try pastEnvelope.seal(row, id: past, tag: tag, info: info)
            record.secretRow = nil
            if !isKept { try transaction.writer.deleteItem(item) }
            try transaction.writer.put(record, secret: ciphertext)
            return past
        }
    }

    /// Opens a past value.
    ///
    /// - Returns: The item as it was, its secret and the info.
    package func past(_ id: RowID) throws(KeychainFault) -> (item: Item, secret: SealedSecret?, info: PastInfo)? {
        let found = try store.read { (reader) throws(KeychainFault) in try reader.pastWithSecret(id: id) }
        guard let found else { return nil }
        let info = try pastEnvelope.open(found.past)
        let row = pastEnvelope.row(of: found.past, info)
        let item = try itemEnvelope.open(row)
        guard item.secretCount != nil else { return (item, nil, info) }
        return (item, try itemEnvelope.secret(of: item, record: row, ciphertext: found.secret), info)
    }
}
