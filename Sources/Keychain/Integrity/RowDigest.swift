import SecretCrypto

/// The tables of a store, in the order in which they are verified. Raw values are part of the store format.
enum RowTable: UInt8, Sendable {
    case store = 1
    case slot = 2
    case device = 3
    case classKey = 4
    case userKey = 5
    case directory = 6
    case item = 7
    case past = 8
    case itemKey = 9

    /// Whether its rows are counted in ``StoreSums/keys``.
    var isOfKeys: Bool { rawValue <= RowTable.userKey.rawValue }
}

/// The position of a row in the order of verification: by table, then by row number.
struct RowPosition: Comparable, Sendable {
    var table: RowTable
    /// The row number of a directory, item or past value, or the item of an item key. The few rows of other tables are
    /// verified together.
    var id: Int64 = 0
    /// The kind of an item key.
    var kind: Int64 = 0

    /// The position before every row.
    static let start = RowPosition(table: .store, id: -1)

    static func < (a: RowPosition, b: RowPosition) -> Bool {
        (a.table.rawValue, a.id, a.kind) < (b.table.rawValue, b.id, b.kind)
    }
}

/// BLAKE2b-256(row digest key; table, columns) of single rows (contract, S2).
///
/// All columns are in the order of the schema, except the header and the ciphertexts of secrets, which their nonces and
/// tags represent. The ciphertexts of names and metadata are included, because the holder of a removed slot can change
/// them without a change of nonce and tag.
///
/// The input is one part (``KeyedHash``): the table's byte, then per column 8 bytes of a number, or 4 bytes of a size
/// and the bytes; for an absent value the size is 0xFFFF_FFFF. All numbers are little-endian.
struct RowDigest: Sendable {
    /// The row number of the store's only row.
    private static let storeRow: Int64 = 1

    let keys: HeaderKeys

    init(_ keys: HeaderKeys) { self.keys = keys }

    /// Opens the header.
    ///
    /// - Throws: `decode` if it is not authentic.
    func header(of record: StoreRecord) throws(KeychainFault) -> StoreHeader {
        try StoreHeader(opening: record, keys: keys)
    }

    /// Seals a header for a store.
    func sealed(_ header: StoreHeader, for record: StoreRecord) throws(KeychainFault) -> Sealed {
        try header.sealed(by: keys, store: record.identifier)
    }

    /// Without `header`, which contains the sum.
    func sum(_ record: StoreRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.store)
        columns.add(Int64(record.format))
        columns.add(Self.storeRow)
        columns.add(record.identifier)
        columns.add(record.salt)
        columns.add(Int64(bitPattern: record.cost.passes))
        columns.add(Int64(bitPattern: record.cost.memory))
        columns.add(record.userKeyGeneration)
        columns.add(record.masterKeyGeneration)
        columns.add(record.readerMask)
        columns.add(record.writerMask)
        columns.add(record.masterKeys)
        return try sum(columns)
    }

    func sum(_ record: SlotRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.slot)
        columns.add(record.id)
        columns.add(Int64(record.kind.rawValue))
        columns.add(record.userKeyGeneration)
        columns.add(record.ephemeral)
        columns.add(record.parameters)
        columns.add(record.userKey)
        columns.add(record.recipient)
        return try sum(columns)
    }

    func sum(_ record: DeviceRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.device)
        columns.add(record.id)
        columns.add(record.tag)
        columns.add(record.mark.commit)
        columns.add(record.mark.commitID)
        return try sum(columns)
    }

    func sum(_ record: ClassKeyRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.classKey)
        columns.add(Int64(record.purpose.rawValue))
        columns.add(record.generation)
        columns.add(record.device)
        columns.add(Int64(record.wrapping.rawValue))
        columns.add(record.userKeyGeneration)
        columns.add(record.keys)
        return try sum(columns)
    }

    func sum(_ record: UserKeyRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.userKey)
        columns.add(record.generation)
        columns.add(record.key)
        return try sum(columns)
    }

    /// Returns the sum of all rows that are counted in ``StoreSums/keys``.
    func sum(_ records: KeySnapshot) throws(KeychainFault) -> DigestSum {
        var sum = try sum(records.store)
        for slot in records.slots { sum += try self.sum(slot) }
        for device in records.devices { sum += try self.sum(device) }
        for key in records.classKeys { sum += try self.sum(key) }
        for key in records.userKeys { sum += try self.sum(key) }
        return sum
    }

    func sum(_ record: DirectoryRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.directory)
        columns.add(record.id.rawValue)
        columns.add(record.parent.rawValue)
        columns.add(record.version)
        columns.add(record.masterKeyGeneration)
        columns.add(record.tag)
        columns.add(record.alwaysTag)
        columns.add(record.name.nonceAndTag.bytes)
        columns.add(record.alwaysName?.nonceAndTag.bytes)
        columns.add(record.name.ciphertext)
        columns.add(record.alwaysName?.ciphertext)
        return try sum(columns)
    }

    func sum(_ record: ItemRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.item)
        columns.add(record.id.rawValue)
        columns.add(record.directory.rawValue)
        columns.add(record.version)
        columns.add(Int64(record.protection.rawValue))
        columns.add(record.generation)
        columns.add(optional: record.masterKeyGeneration)
        columns.add(optional: record.secretRow?.rawValue)
        columns.add(record.tag)
        columns.add(record.alwaysTag)
        columns.add(record.ephemeral)
        columns.add(record.mac)
        columns.add(record.metadata.nonceAndTag.bytes)
        columns.add(record.secretSeals.bytes)
        columns.add(record.metadata.ciphertext)
        return try sum(columns)
    }

    func sum(_ record: PastRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.past)
        columns.add(record.id.rawValue)
        columns.add(Int64(record.protection.rawValue))
        columns.add(record.generation)
        columns.add(record.masterKeyGeneration)
        columns.add(optional: record.secretRow?.rawValue)
        columns.add(record.tag)
        columns.add(record.info.nonceAndTag.bytes)
        columns.add(record.secretSeals.bytes)
        columns.add(record.info.ciphertext)
        columns.add(record.metadata)
        return try sum(columns)
    }

    func sum(_ record: ItemKeyRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.itemKey)
        columns.add(record.position.item.rawValue)
        columns.add(record.position.kind)
        columns.add(record.tag)
        return try sum(columns)
    }

    private func sum(_ columns: RowColumns) throws(KeychainFault) -> DigestSum {
        let digest = try keys.rowDigest.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: [columns.bytes], count: DigestSum.digestCount)
        }
        guard let sum = DigestSum(count: 1, digest: digest) else { throw .param }
        return sum
    }
}

/// The columns of one row as input of the hash.
private struct RowColumns {
    private(set) var bytes: [UInt8]

    init(_ table: RowTable) {
        bytes = [table.rawValue]
        bytes.reserveCapacity(640)
    }

    mutating func add(_ number: Int64) { bytes.append(littleEndian: number) }

    mutating func add(optional number: Int64?) {
        if let number { add(number) } else { add(nil) }
    }

    mutating func add(_ sealed: Sealed) {
        add(sealed.nonceAndTag.bytes)
        add(sealed.ciphertext)
    }

    mutating func add(_ part: [UInt8]?) {
        guard let part else { return bytes.append(littleEndian: UInt32.max) }
        bytes.append(littleEndian: UInt32(clamping: part.count))
        bytes += part
    }
}
