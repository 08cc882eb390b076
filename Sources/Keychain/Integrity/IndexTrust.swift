import Synchronization

/// What is known of a store's indexes: whether a row that they do not lead to can be taken for absent.
enum IndexTrust: UInt8, Sendable {
    /// They have not been compared with the rows yet.
    case unknown
    case sound
    /// No difference was found, but a few rows or a part of an index could not be read.
    case unproven
    /// They miss rows, lead to wrong ones, or nobody can tell.
    case wrong
    /// They were wrong, and are being built anew.
    case rebuilding

    init(_ findings: IndexFindings) {
        self =
            if findings.areSound {
                .sound
            } else if findings.hasDifferences || findings.hasSkippedRows {
                .wrong
            } else {
                .unproven
            }
    }

    /// Whether there may be rows that look-ups and listings miss.
    var missesRows: Bool { self == .wrong || self == .rebuilding }
    /// Whether a new name or the removal of a directory could rest on a row that is missed.
    var forbidsNewNames: Bool { missesRows || self == .unproven }
    /// Whether more will be known soon.
    var isSettled: Bool { self != .unknown && self != .rebuilding }
}

/// The ``IndexTrust`` of one store, which every absent look-up asks for.
final class SharedIndexTrust: Sendable {
    private let raw = Atomic(IndexTrust.unknown.rawValue)

    var value: IndexTrust {
        get { IndexTrust(rawValue: raw.load(ordering: .acquiring)) ?? .unknown }
        set { raw.store(newValue.rawValue, ordering: .releasing) }
    }

    /// For whoever has found no row, or no further one.
    ///
    /// - Throws: `decode` if there may be one all the same.
    func checkAbsence() throws(KeychainError) {
        if value.missesRows { throw .decode }
    }

    /// For whoever is about to make a name, or to remove a directory.
    ///
    /// - Throws: `decode` if a row of that name, or in that directory, may have been missed.
    func checkNewName() throws(KeychainError) {
        if value.forbidsNewNames { throw .decode }
    }
}
