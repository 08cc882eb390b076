import Keychain
import KeychainStorage

/// The keychain that a restored backup is about to replace, as far as it opens with the same secret.
struct ReplacedCopy {
    private enum Commit {
        /// There is no keychain, or it is another one.
        case none
        case number(Int64)
        /// The keychain cannot be opened: it is damaged, or another secret opens it.
        case unknown
    }

    /// The distance to the numbers of copies that cannot be opened. No keychain has that many commits.
    private static let distance: Int64 = 1 << 32
    private var commit: Commit
    /// Whether its user keys are those of the backup; nil if that is unknown.
    private(set) var hasSameHistory: Bool?

    /// - Parameter backup: The keys of the backup, whose slot `root` opens.
    init(of target: KeychainPath, _ root: borrowing SlotRootKey, backup: KeyRing) {
        commit = .none
        guard target.exists else { return }
        commit = .unknown
        guard let opened = try? target.openForReading(isExamination: true) else { return }
        defer { opened.keychain.close() }
        let keys = opened.keychain.keys
        guard keys.storeID == backup.storeID else {
            commit = .none
            return
        }
        hasSameHistory = try? backup.hasSameHistory(as: keys, root: root)
        if let number = try? Self.number(of: opened, root) { commit = .number(number) }
    }

    private static func number(
        of opened: OpenedKeychain, _ root: borrowing SlotRootKey
    ) throws(KeychainFault) -> Int64 {
        try opened.keychain.keys.unlock(root: root, acceptingRollback: true)
        return try opened.keychain.commitNumber()
    }

    /// Returns a number that no known copy of the store of `keys` exceeds.
    func floor(for keys: KeyRing, in numbers: any CommitNumberStore) throws(KeychainFault) -> Int64 {
        let known = try max(keys.keptCommitNumber(in: numbers) ?? 0, keys.commitNumber())
        return switch commit {
        case .none: known
        case .number(let number): max(known, number)
        case .unknown: known + Self.distance
        }
    }
}
