import Keychain
import KeychainStorage

/// The last commit of a keychain that a restored backup is about to replace.
enum ReplacedCommit {
    /// There is no keychain, or it is another one.
    case none
    case number(Int64)
    /// The keychain cannot be opened: it is damaged, or another secret opens it.
    case unknown

    /// The distance to the numbers of copies that cannot be opened. No keychain has that many commits.
    private static let distance: Int64 = 1 << 32

    init(of target: KeychainPath, _ root: borrowing SlotRootKey, store: [UInt8]) {
        guard target.exists else {
            self = .none
            return
        }
        guard let opened = try? target.openForReading(isExamination: true) else {
            self = .unknown
            return
        }
        defer { opened.keychain.close() }
        if opened.keychain.keys.storeID == store {
            self = (try? Self.commit(of: opened, root)).map(Self.number) ?? .unknown
        } else {
            self = .none
        }
    }

    private static func commit(
        of opened: OpenedKeychain, _ root: borrowing SlotRootKey
    ) throws(KeychainFault) -> Int64 {
        try opened.keychain.keys.unlock(root: root, acceptingRollback: true)
        return try opened.keychain.commitNumber()
    }

    /// Returns a number that no known copy of the store of `keys` exceeds.
    func floor(for keys: KeyRing, in numbers: any CommitNumberStore) throws(KeychainFault) -> Int64 {
        let known = try max(keys.keptCommitNumber(in: numbers) ?? 0, keys.commitNumber())
        return switch self {
        case .none: known
        case .number(let number): max(known, number)
        case .unknown: known + Self.distance
        }
    }
}
