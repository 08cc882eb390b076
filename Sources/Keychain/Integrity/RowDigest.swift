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
}

/// The position of a row in the order of verification: by table, then by row number.
struct RowPosition: Comparable, Sendable {
    var table: RowTable
    /// The row number of a directory or item. The few rows of other tables are verified together.
    var id: Int64 = 0

    /// The position before every row.
    static let start = RowPosition(table: .store, id: -1)

    static func < (a: RowPosition, b: RowPosition) -> Bool {
        a.table.rawValue != b.table.rawValue ? a.table.rawValue < b.table.rawValue : a.id < b.id
    }
}

/// BLAKE2b-256(row digest key; table, row ID, readable columns, nonces and tags, for keys also ciphertexts) of single
/// rows (contract, S2).
///
/// The input is one part (``KeyedHash``): the table's byte, then per column 8 bytes of a number, or 4 bytes of a size
/// and the bytes; for an absent value the size is 0xFFFF_FFFF. All numbers are little-endian.
struct RowDigest: Sendable {
    private let key: RevocableSecret
    private let headerKey: RevocableSecret

    init(_ keys: MasterKeys) {
        key = keys.rowDigest
        headerKey = keys.header
    }

    /// Opens the header row.
    ///
    /// - Throws: `decode` if it is not authentic.
    func header(of record: StoreRecord) throws(KeychainFault) -> StoreHeader {
        try StoreHeader(opening: record.header, key: headerKey, store: record.identifier)
    }

    /// Seals the header row of the next commit.
    func sealed(_ header: StoreHeader, store: [UInt8]) throws(KeychainFault) -> Sealed {
        try headerKey.using { (key) throws(CryptoError) in try header.sealed(by: key, store: store) }
    }

    /// Without `header`, which contains the sum.
    func sum(_ record: StoreRecord) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.store)
        columns.add(Int64(record.format))
        columns.add(record.identifier)
        columns.add(record.salt)
        columns.add(Int64(bitPattern: record.cost.passes))
        columns.add(Int64(bitPattern: record.cost.memory))
        columns.add(record.userKeyGeneration)
        columns.add(record.highestRow.rawValue)
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

    func sum(_ summary: DirectoryRowSummary) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.directory)
        columns.add(summary.id.rawValue)
        columns.add(summary.parent.rawValue)
        columns.add(summary.version)
        columns.add(summary.generation)
        columns.add(summary.tag)
        columns.add(summary.alwaysTag)
        columns.add(summary.nameNonceAndTag.bytes)
        columns.add(summary.alwaysNameNonceAndTag?.bytes)
        return try sum(columns)
    }

    func sum(_ summary: ItemRowSummary) throws(KeychainFault) -> DigestSum {
        var columns = RowColumns(.item)
        columns.add(summary.id.rawValue)
        columns.add(summary.directory.rawValue)
        columns.add(summary.version)
        columns.add(Int64(summary.protection.rawValue))
        columns.add(summary.generation)
        columns.add(summary.tag)
        columns.add(summary.alwaysTag)
        columns.add(summary.ephemeral)
        columns.add(summary.mac)
        columns.add(summary.metadataNonceAndTag.bytes)
        columns.add(summary.secretNoncesAndTags.flatMap(\.bytes))
        return try sum(columns)
    }

    private func sum(_ columns: RowColumns) throws(KeychainFault) -> DigestSum {
        let digest = try key.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: [columns.bytes], count: StoreHeader.digestCount)
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
        bytes.reserveCapacity(320)
    }

    mutating func add(_ number: Int64) { bytes.append(littleEndian: number) }

    /// Includes the ciphertext: keys are few and short, and no check can open those that are wrapped for other devices.
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
