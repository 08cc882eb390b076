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

/// Where a row stands in the order in which rows are verified: by table, then by number.
struct RowPlace: Comparable, Sendable {
    var table: RowTable
    /// Of directories and items their row; the few rows of the other tables are verified together.
    var id: Int64 = 0

    /// Before every row.
    static let start = RowPlace(table: .store, id: -1)

    static func < (a: RowPlace, b: RowPlace) -> Bool {
        a.table.rawValue != b.table.rawValue ? a.table.rawValue < b.table.rawValue : a.id < b.id
    }
}

/// BLAKE2b-256(row digest key; table, row id, readable columns, nonces and tags, of keys the ciphertexts too) of single
/// rows (contract, S2).
///
/// What is hashed is one part (``KeyedHash``): the table's byte, then per column 8 bytes of a number or 4 bytes of a
/// count and the bytes; for an absent value the count is 0xFFFF_FFFF. All numbers little endian.
struct RowDigest: Sendable {
    private let key: RevocableSecret
    private let headerKey: RevocableSecret

    init(_ keys: MasterKeys) {
        key = keys.rowDigest
        headerKey = keys.header
    }

    /// What the header row says; `decode` if it is not what was sealed.
    func header(of record: StoreRecord) throws(KeychainError) -> StoreHeader {
        try StoreHeader(opening: record.header, key: headerKey, store: record.identifier)
    }

    /// The header row of the next commit.
    func sealed(_ header: StoreHeader, store: [UInt8]) throws(KeychainError) -> Sealed {
        try headerKey.using { (key) throws(CryptoError) in try header.sealed(by: key, store: store) }
    }

    /// `header` is left out: it holds the sum.
    func sum(_ record: StoreRecord) throws(KeychainError) -> RowSum {
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

    func sum(_ record: SlotRecord) throws(KeychainError) -> RowSum {
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

    func sum(_ record: DeviceRecord) throws(KeychainError) -> RowSum {
        var columns = RowColumns(.device)
        columns.add(record.id)
        columns.add(record.tag)
        return try sum(columns)
    }

    func sum(_ record: ClassKeyRecord) throws(KeychainError) -> RowSum {
        var columns = RowColumns(.classKey)
        columns.add(Int64(record.purpose.rawValue))
        columns.add(record.generation)
        columns.add(record.device)
        columns.add(Int64(record.wrapping.rawValue))
        columns.add(record.userKeyGeneration)
        columns.add(record.keys)
        return try sum(columns)
    }

    func sum(_ record: UserKeyRecord) throws(KeychainError) -> RowSum {
        var columns = RowColumns(.userKey)
        columns.add(record.generation)
        columns.add(record.key)
        return try sum(columns)
    }

    func sum(_ head: DirectoryHead) throws(KeychainError) -> RowSum {
        var columns = RowColumns(.directory)
        columns.add(head.id.rawValue)
        columns.add(head.parent.rawValue)
        columns.add(head.version)
        columns.add(head.generation)
        columns.add(head.tag)
        columns.add(head.alwaysTag)
        columns.add(head.nameSeal.bytes)
        columns.add(head.alwaysNameSeal?.bytes)
        return try sum(columns)
    }

    func sum(_ head: ItemHead) throws(KeychainError) -> RowSum {
        var columns = RowColumns(.item)
        columns.add(head.id.rawValue)
        columns.add(head.directory.rawValue)
        columns.add(head.version)
        columns.add(Int64(head.protection.rawValue))
        columns.add(head.generation)
        columns.add(head.tag)
        columns.add(head.alwaysTag)
        columns.add(head.ephemeral)
        columns.add(head.mac)
        columns.add(head.metadataSeal.bytes)
        columns.add(head.secretSeals.flatMap(\.bytes))
        return try sum(columns)
    }

    private func sum(_ columns: RowColumns) throws(KeychainError) -> RowSum {
        let digest = try key.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: [columns.bytes], count: StoreHeader.digestCount)
        }
        guard let sum = RowSum(count: 1, digest: digest) else { throw .param }
        return sum
    }
}

/// The columns of one row as they are hashed.
private struct RowColumns {
    private(set) var bytes: [UInt8]

    init(_ table: RowTable) {
        bytes = [table.rawValue]
        bytes.reserveCapacity(320)
    }

    mutating func add(_ number: Int64) { bytes.append(littleEndian: number) }

    /// With the ciphertext: keys are few and short, and what is wrapped for others no check can open.
    mutating func add(_ sealed: Sealed) {
        add(sealed.seal.bytes)
        add(sealed.ciphertext)
    }

    mutating func add(_ part: [UInt8]?) {
        guard let part else { return bytes.append(littleEndian: UInt32.max) }
        bytes.append(littleEndian: UInt32(clamping: part.count))
        bytes += part
    }
}
