import Synchronization

/// The state of a store's indexes: whether a row is absent if no index entry is found.
enum IndexTrust: UInt8, Sendable {
    /// The indexes have not been compared with the rows yet.
    case unknown
    case consistent
    /// No difference was found, but some rows or index entries could not be read.
    case unproven
    /// The indexes miss rows or have wrong entries, or too many rows could not be read.
    case wrong
    /// The indexes are wrong. The rows are being verified, or the indexes rebuilt.
    case rebuilding

    init(_ findings: IndexFindings) {
        self =
            if findings.areConsistent {
                .consistent
            } else if findings.hasDifferences || findings.hasSkippedRows {
                .wrong
            } else {
                .unproven
            }
    }

    /// Whether rows are known to be missed.
    var missesRows: Bool { self == .wrong || self == .rebuilding }
    /// Whether new names and the removal of directories are refused, because they rely on the absence of rows.
    var forbidsNewNames: Bool { missesRows || self == .unproven }
    /// Whether the state will not change soon.
    var isSettled: Bool { self != .unknown && self != .rebuilding }
}

/// The ``IndexTrust`` of one store. It is read after each lookup that finds no row.
final class SharedIndexTrust: Sendable {
    private let raw = Atomic(IndexTrust.unknown.rawValue)

    var value: IndexTrust {
        get { IndexTrust(rawValue: raw.load(ordering: .acquiring)) ?? .unknown }
        set { raw.store(newValue.rawValue, ordering: .releasing) }
    }

    /// Called after a lookup or a listing has found no further row.
    ///
    /// - Throws: `decode` if such a row may exist nevertheless.
    func checkAbsence() throws(KeychainFault) {
        if value.missesRows { throw .decode }
    }

    /// Called before a name is added or a directory is removed.
    ///
    /// - Throws: `decode` if a row of that name, or in that directory, may have been missed.
    func checkNewName() throws(KeychainFault) {
        if value.forbidsNewNames { throw .decode }
    }
}
