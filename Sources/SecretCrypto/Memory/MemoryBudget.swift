import Synchronization

/// A limit on the memory that a process uses on behalf of its callers, in total and per user.
///
/// Unlimited users may use the whole budget. Every other user gets a quarter of it, and all other users together three
/// quarters, so that they cannot block the unlimited ones.
package final class MemoryBudget: Sendable {
    private struct Used {
        var total = 0
        /// The bytes charged to each limited user. Contains no zeros.
        var byUser: [UInt32: Int] = [:]
        var byOthers = 0
    }

    /// The budget in bytes.
    package let limit: Int
    fileprivate let unlimitedUsers: Set<UInt32>
    private let state = Mutex(Used())

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - limit: The budget in bytes.
    ///   - unlimitedUsers: The IDs of users that may use the whole budget.
    package init(limit: Int, unlimitedUsers: Set<UInt32>) {
        self.limit = limit
        self.unlimitedUsers = unlimitedUsers
    }

    /// The number of bytes charged at present.
    package var used: Int { state.withLock { $0.total } }

    /// The share of one user in a budget.
    package struct Share: Sendable {
        fileprivate let budget: MemoryBudget
        fileprivate let user: UInt32

        /// Whether the user may use the whole budget.
        package var isUnlimited: Bool { budget.unlimitedUsers.contains(user) }

        /// Charges `bytes` until the result is released.
        ///
        /// - Throws: `overBudget` if the share is exhausted. Nothing is charged then.
        package func reserve(_ bytes: Int) throws(CryptoError) -> MemoryCharge {
            guard budget.add(bytes, for: user, isForced: false) else { throw .overBudget }
            return MemoryCharge(bytes, to: self)
        }

        /// Charges `bytes` even beyond the limit, for memory that is in use already or replaces as much.
        package func force(_ bytes: Int) -> MemoryCharge {
            _ = budget.add(bytes, for: user, isForced: true)
            return MemoryCharge(bytes, to: self)
        }

        /// Whether forced charges exceed the limit by an eighth. New work must then be refused.
        package var isExhausted: Bool { budget.used >= budget.limit + budget.limit / 8 }
    }

    /// Returns the share of a user.
    package func share(of user: UInt32) -> Share { Share(budget: self, user: user) }

    private func add(_ bytes: Int, for user: UInt32, isForced: Bool) -> Bool {
        state.withLock { used in
            guard isForced || hasSpace(bytes, for: user, used) else { return false }
            used.total += bytes
            guard !unlimitedUsers.contains(user) else { return true }
            used.byUser[user, default: 0] += bytes
            used.byOthers += bytes
            return true
        }
    }

    private func hasSpace(_ bytes: Int, for user: UInt32, _ used: borrowing Used) -> Bool {
        guard bytes <= limit - used.total else { return false }
        guard !unlimitedUsers.contains(user) else { return true }
        return bytes <= limit / 4 - used.byUser[user, default: 0] && bytes <= limit / 4 * 3 - used.byOthers
    }

    fileprivate func release(_ bytes: Int, of user: UInt32) {
        state.withLock { used in
            used.total -= bytes
            guard !unlimitedUsers.contains(user) else { return }
            used.byOthers -= bytes
            let left = used.byUser[user, default: 0] - bytes
            used.byUser[user] = left > 0 ? left : nil
        }
    }
}

/// A charge to a budget during the lifetime of this object, so that no code path can fail to release it.
package final class MemoryCharge: Sendable {
    /// The share to which the bytes are charged.
    let share: MemoryBudget.Share
    private let bytes: Int

    fileprivate init(_ bytes: Int, to share: MemoryBudget.Share) {
        self.bytes = bytes
        self.share = share
    }

    deinit { share.budget.release(bytes, of: share.user) }
}
