import Synchronization

/// A limit on the memory that a process uses for its callers, in total and for each user.
///
/// Some users may take all of it. Each other user gets a quarter, and all others together three quarters: they cannot
/// stop the first ones from working.
package final class MemoryBudget: Sendable {
    private struct Used {
        var total = 0
        /// Of users that may not take all of it, those without any left out.
        var byUser: [UInt32: Int] = [:]
        var byOthers = 0
    }

    /// In bytes.
    package let limit: Int
    fileprivate let unlimitedUsers: Set<UInt32>
    private let state = Mutex(Used())

    /// - Parameters:
    ///   - limit: in bytes.
    ///   - unlimitedUsers: may take all of it.
    package init(limit: Int, unlimitedUsers: Set<UInt32>) {
        self.limit = limit
        self.unlimitedUsers = unlimitedUsers
    }

    /// Bytes that are charged now.
    package var used: Int { state.withLock { $0.total } }

    /// What one user may take of a budget.
    package struct Share: Sendable {
        fileprivate let budget: MemoryBudget
        fileprivate let user: UInt32

        /// Whether the user may take all of it.
        package var isUnlimited: Bool { budget.unlimitedUsers.contains(user) }

        /// Charges `bytes` until the result is released.
        ///
        /// - Throws: `overBudget`; nothing is charged then.
        package func reserve(_ bytes: Int) throws(CryptoError) -> MemoryCharge {
            guard budget.add(bytes, for: user, isForced: false) else { throw .overBudget }
            return MemoryCharge(bytes, to: self)
        }

        /// Charges `bytes` beyond the limit too: for memory that is taken already, or replaces as much.
        package func force(_ bytes: Int) -> MemoryCharge {
            _ = budget.add(bytes, for: user, isForced: true)
            return MemoryCharge(bytes, to: self)
        }

        /// Whether what was forced has taken an eighth more than the limit: nothing more is to be begun.
        package var isExhausted: Bool { budget.used >= budget.limit + budget.limit / 8 }
    }

    /// The share of the user with that ID.
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

/// Bytes that are charged to a budget as long as this object exists: no code path can fail to release them.
package final class MemoryCharge: Sendable {
    /// Whose they are.
    let share: MemoryBudget.Share
    private let bytes: Int

    fileprivate init(_ bytes: Int, to share: MemoryBudget.Share) {
        self.bytes = bytes
        self.share = share
    }

    deinit { share.budget.release(bytes, of: share.user) }
}
