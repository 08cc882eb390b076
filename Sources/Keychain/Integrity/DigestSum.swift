/// A number of rows and the sum of their digests modulo 2^256, or the change of both.
package struct DigestSum: Hashable, Sendable {
    /// The size of the sum in bytes.
    package static let digestCount = 32

    /// The number of rows; negative in a difference.
    package private(set) var count: Int64 = 0
    /// The sum, least significant word first.
    private var limbs = SIMD4<UInt64>()

    /// Creates the sum of no rows.
    package init() {}

    /// Creates a sum from 32 bytes, little endian; nil for another number of bytes.
    package init?(count: Int64, digest: [UInt8]) {
        guard digest.count == Self.digestCount else { return nil }
        self.count = count
        // Without an iterator, which allocates memory for each byte in a debug build.
        var index = 0
        while index < Self.digestCount {
            limbs[index / 8] |= UInt64(digest[index]) &<< (8 * UInt64(index % 8))
            index += 1
        }
    }

    /// The sum as 32 bytes, little endian.
    package var digest: [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<4 { bytes.append(littleEndian: limbs[index]) }
        return bytes
    }

    /// Reads the count and the sum of an encoded header.
    init(from reader: inout ByteReader) throws(KeychainFault) {
        count = try reader.integer()
        for index in 0..<4 { limbs[index] = try reader.integer() }
    }

    /// Appends the count and the sum.
    func append(to bytes: inout [UInt8]) {
        bytes.append(littleEndian: count)
        for index in 0..<4 { bytes.append(littleEndian: limbs[index]) }
    }

    package static func += (sum: inout DigestSum, other: DigestSum) {
        sum.count &+= other.count
        var carry = false
        for index in 0..<4 {
            let (partial, first) = sum.limbs[index].addingReportingOverflow(other.limbs[index])
            let (limb, second) = partial.addingReportingOverflow(carry ? 1 : 0)
            sum.limbs[index] = limb
            carry = first || second
        }
    }

    package static func -= (sum: inout DigestSum, other: DigestSum) {
        sum.count &-= other.count
        var borrow = false
        for index in 0..<4 {
            let (partial, first) = sum.limbs[index].subtractingReportingOverflow(other.limbs[index])
            let (limb, second) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
            sum.limbs[index] = limb
            borrow = first || second
        }
    }

    package static func - (sum: DigestSum, other: DigestSum) -> DigestSum {
        var difference = sum
        difference -= other
        return difference
    }
}

extension DigestSum {
    /// A single row with an unknown digest.
    static let ofUnknownRow: DigestSum = {
        var sum = DigestSum()
        sum.count = 1
        return sum
    }()
}

/// The changes of a transaction, or of one write in it. Stored per row, because a verification in progress has
/// processed some of the rows.
struct DigestDelta: Sendable {
    struct RowChange: Sendable {
        let position: RowPosition
        let sum: DigestSum
        /// For an item, the directory before and after the change; `none` for an item that is added or removed.
        var directories = (old: RowID.none, new: RowID.none)
    }

    private(set) var changes: [RowChange] = []
    private(set) var changedDirectories: Set<RowID> = []
    /// The changed directories that have only been touched.
    private(set) var touched: Set<RowID> = []
    /// Whether rows or directories may be missing here.
    private(set) var isIncomplete = false
    /// The number that the commit exceeds, in addition to that of the last one.
    private(set) var commitFloor: Int64 = 0
    /// The header keys of a new user key.
    private(set) var rotation: HeaderKeys?
    /// The device that runs a rekey from now on, or 0; nil if that does not change.
    private(set) var rekeyDevice: Int64?

    /// Whether the device writes its mark, although this is not the first change of a session.
    private(set) var requiresMark = false
    /// The change of the number of bytes of past values.
    private(set) var pastBytes: Int64 = 0

    mutating func add(_ sum: DigestSum, at position: RowPosition) { add(RowChange(position: position, sum: sum)) }

    mutating func add(_ change: RowChange) {
        changes.append(change)
        let position = change.position
        guard position.table == .directory else { return }
        let directory = RowID(rawValue: position.id)
        changedDirectories.insert(directory)
        touched.remove(directory)
    }

    /// Records that any row may have changed.
    mutating func noteUnknown() { isIncomplete = true }

    mutating func rotate(to keys: HeaderKeys) { rotation = keys }
    mutating func setRekeyDevice(_ device: Int64) { rekeyDevice = device }
    mutating func requireMark() { requiresMark = true }
    mutating func raiseCommit(above number: Int64) { commitFloor = max(commitFloor, number) }
    mutating func add(pastBytes: Int64) { self.pastBytes &+= pastBytes }
    mutating func touch(_ directory: RowID) { touched.insert(directory) }

    mutating func add(_ other: DigestDelta) {
        for change in other.changes { add(change) }
        touched.formUnion(other.touched)
        isIncomplete = isIncomplete || other.isIncomplete
        rotation = other.rotation ?? rotation
        rekeyDevice = other.rekeyDevice ?? rekeyDevice
        requiresMark = requiresMark || other.requiresMark
        raiseCommit(above: other.commitFloor)
        add(pastBytes: other.pastBytes)
    }

    /// Returns the sums of the changes of the rows up to `position`.
    func total(upTo position: RowPosition? = nil) -> StoreSums {
        changes.reduce(into: StoreSums()) { total, change in
            if let position, change.position > position { return }
            total.add(change.sum, of: change.position.table)
        }
    }
}
