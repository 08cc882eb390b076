import SecretCrypto

/// The plaintext of ``StoreRecord/header``: the state of the store as of its last transaction, by which removed and
/// restored rows are detected (contract, S2).
package struct StoreHeader: Hashable, Sendable {
    /// The size of the plaintext in bytes.
    package static let byteCount = 256
    package static let commitIDCount = 16
    /// The number of bytes at the end that have no meaning yet.
    private static let reservedCount = 80
    private static let zeros = [UInt8](repeating: 0, count: reservedCount)

    /// The number of the last transaction. The first one, 1, has created the store.
    package var commit: Int64 = 0
    /// 16 random bytes of the last transaction, by which two copies of the store with one commit number differ.
    package var commitID = [UInt8](repeating: 0, count: commitIDCount)
    /// The lowest number that no row has had.
    package var nextRow = RowID.first
    package var sums = StoreSums()
    /// The age of the store in seconds: the time while a program has it open, and a part of the time between.
    package var storeTime: Int64 = 0
    /// The wall clock at the last transaction, in seconds since 1970.
    package var wallClock: Int64 = 0
    package var past = PastLimits()
    /// The row of the item with the access rules, and the version that it has at least; 0 without rules.
    package var rulesRow = RowID.none
    package var rulesVersion: Int64 = 0
    /// The device that runs a rekey; 0 if none is in progress.
    package var rekeyDevice: Int64 = 0
    /// Bytes of later versions, which are kept.
    private var reserved = Self.zeros

    package init() {}

    /// Gives the header the number and ID of the next transaction.
    package mutating func advance() {
        commit += 1
        commitID = SecureRandom.bytes(Self.commitIDCount)
    }

    /// Seals the header of a store.
    package func sealed(by keys: HeaderKeys, store: [UInt8]) throws(KeychainFault) -> Sealed {
        let (plaintext, bound) = (encoded, Self.binding(generation: keys.generation, store: store))
        return try keys.header.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.rawSpan, key: key, bound: bound)
        }
    }

    /// Opens the header of a store.
    ///
    /// - Throws: `decode` if it is not authentic.
    package init(opening record: StoreRecord, keys: HeaderKeys) throws(KeychainFault) {
        let bound = Self.binding(generation: keys.generation, store: record.identifier)
        let plaintext = try keys.header.using { (key) throws(CryptoError) in
            try record.header.open(key: key, bound: bound, count: Self.byteCount)
        }
        try self.init(decoding: [UInt8](copying: plaintext.bytes))
    }

    static func binding(generation: Int64, store: [UInt8]) -> AssociatedData {
        AssociatedData(.header, store: store).adding(Int64(StoreRecord.currentFormat), generation)
    }
}

// MARK: Encoding

extension StoreHeader {
    /// All numbers are little-endian.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(littleEndian: commit)
        bytes.append(contentsOf: commitID)
        bytes.append(littleEndian: nextRow.rawValue)
        sums.keys.append(to: &bytes)
        sums.rows.append(to: &bytes)
        bytes.append(littleEndian: storeTime)
        bytes.append(littleEndian: wallClock)
        bytes.append(littleEndian: past.seconds)
        bytes.append(littleEndian: past.byteLimit)
        bytes.append(littleEndian: past.bytes)
        bytes.append(littleEndian: rulesRow.rawValue)
        bytes.append(littleEndian: rulesVersion)
        bytes.append(littleEndian: rekeyDevice)
        bytes.append(contentsOf: reserved)
        return bytes
    }

    /// - Throws: `decode` for values that no writer writes.
    package init(decoding bytes: [UInt8]) throws(KeychainFault) {
        var reader = ByteReader(bytes)
        commit = try reader.integer()
        commitID = try reader.bytes(Self.commitIDCount)
        nextRow = RowID(rawValue: try reader.integer())
        sums.keys = try DigestSum(from: &reader)
        sums.rows = try DigestSum(from: &reader)
        storeTime = try reader.integer()
        wallClock = try reader.integer()
        past = PastLimits(
            seconds: try reader.integer(), byteLimit: try reader.integer(), bytes: try reader.integer())
        rulesRow = RowID(rawValue: try reader.integer())
        rulesVersion = try reader.integer()
        rekeyDevice = try reader.integer()
        reserved = try reader.bytes(Self.reservedCount)
        try reader.finish()
        guard isValid else { throw .decode }
    }

    private var isValid: Bool {
        min(commit, sums.keys.count, sums.rows.count, storeTime) >= 0 && commit < .max
            && min(past.seconds, past.byteLimit, past.bytes) >= 0
            && min(rulesRow.rawValue, rulesVersion, rekeyDevice) >= 0
            && (RowID.first...RowID.limit).contains(nextRow)
    }
}

/// The limits of past values, which are in the header, because a row of settings could be removed.
package struct PastLimits: Hashable, Sendable {
    /// The time for which past values are kept, in seconds of ``StoreHeader/storeTime``.
    package var seconds: Int64 = 30 * 86_400
    package var byteLimit: Int64 = 256 << 20
    /// The number of bytes of the past values in the store.
    package var bytes: Int64 = 0

    /// Counts the bytes of added or (negative) removed past values. A header with a wrong number stays usable.
    mutating func add(_ change: Int64) {
        let (sum, isOverflow) = bytes.addingReportingOverflow(change)
        bytes = isOverflow ? bytes : max(0, sum)
    }
}
