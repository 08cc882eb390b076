import Keychain
import SecretCrypto
import SystemPackage

/// Charges of memory to users (contract, F9): committed values and attributes to which only descriptors refer. Staged
/// values are charged when they are written (``SealedBuffer``).
extension KeychainFileSystem {
    /// The maximum size in bytes of values that are not charged, so that passwords can always be read: for users
    /// without a limit, and for others. Each descriptor may retain another former value of an item.
    private static let freeSecret = (unlimited: 64 << 10, limited: 4 << 10)

    /// Charges a committed value that a descriptor is about to retain, once for all that share it.
    ///
    /// - Throws: ENOMEM if the user's budget is exhausted.
    func charge(_ secret: SealedSecret?, to user: UInt32) throws(Errno) {
        let share = memory.share(of: user)
        let free = share.isUnlimited ? Self.freeSecret.unlimited : Self.freeSecret.limited
        guard let secret, secret.count > free else { return }
        do throws(CryptoError) { try secret.reserve(in: share) } catch { throw .noMemory }
    }

    /// Records the user to whom the file's copies of the committed value are charged: the first user who has it open,
    /// but preferably one without a limit. Otherwise another user's exhausted share would affect the others.
    func noteUser(_ user: UInt32, _ state: inout ItemFile.State) {
        if state.openCount == 0 || memory.share(of: user).isUnlimited { state.user = user }
    }

    /// Charges new attributes of a file without a committed item, which exist only in memory.
    ///
    /// - Throws: ENOSPC if the user's budget is exhausted.
    func chargeAttributes(of item: Item, to user: UInt32, _ state: inout ItemFile.State) throws(Errno) {
        let share = memory.share(of: user)
        let (old, new) = (state.item?.attributeBytes ?? 0, item.attributeBytes)
        state.attributeCharge = try mapped { () throws(KeychainFault) in
            try KeychainFault.translating { () throws(CryptoError) in
                new > old ? try share.reserve(new) : share.force(new)
            }
        }
    }

    /// Charges the attributes of an open file that is about to lose its name to the user who removes the name. Users
    /// without a limit can always do that.
    ///
    /// - Throws: ENOMEM if the user's budget is exhausted.
    func chargeDetached(to user: UInt32, _ state: inout ItemFile.State) throws(Errno) {
        guard state.openCount > 0, let item = state.item, item.attributeBytes > Self.freeSecret.limited else { return }
        let share = memory.share(of: user)
        do throws(CryptoError) {
            state.attributeCharge =
                share.isUnlimited ? share.force(item.attributeBytes) : try share.reserve(item.attributeBytes)
        } catch {
            throw .noMemory
        }
    }
}
