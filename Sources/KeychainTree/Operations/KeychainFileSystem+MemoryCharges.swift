import Keychain
import SecretCrypto
import SystemPackage

/// Which memory is charged to which user (contract, F9): committed values and attributes that only descriptors refer to.
/// Staged values are charged where they are written (``SealedBuffer``).
extension KeychainFileSystem {
    /// Values of at most this many bytes are not charged, so that passwords can always be read: to a user without a limit of
    /// their own, and to any other. Each descriptor can keep another former value of an item.
    private static let freeSecret = (unlimited: 64 << 10, limited: 4 << 10)

    /// Charges a committed value that a descriptor is about to keep: once for all that share it.
    ///
    /// - Throws: ENOMEM if the budget of the user does not suffice for it.
    func charge(_ secret: SealedSecret?, to user: UInt32) throws(Errno) {
        let share = memory.share(of: user)
        let free = share.isUnlimited ? Self.freeSecret.unlimited : Self.freeSecret.limited
        guard let secret, secret.count > free else { return }
        do throws(CryptoError) { try secret.reserve(in: share) } catch { throw .noMemory }
    }

    /// Notes to whom the file's own copies of the committed value are charged: the first user who has it open, but rather
    /// one without a limit. Else another user's full share would take them from the others.
    func noteUser(_ user: UInt32, _ state: inout ItemFile.State) {
        if state.openCount == 0 || memory.share(of: user).isUnlimited { state.user = user }
    }

    /// Charges new attributes of a file that has no committed item: they are nowhere but in memory.
    ///
    /// - Throws: ENOSPC if the budget of the user does not suffice for more attributes.
    func chargeAttributes(of item: Item, to user: UInt32, _ state: inout ItemFile.State) throws(Errno) {
        let share = memory.share(of: user)
        let (old, new) = (state.item?.attributeBytes ?? 0, item.attributeBytes)
        state.attributeCharge = try mapped { () throws(KeychainFault) in
            try KeychainFault.translating { () throws(CryptoError) in
                new > old ? try share.reserve(new) : share.force(new)
            }
        }
    }

    /// Charges the attributes of an open file that is about to lose its name to the user who removes the name. Users without
    /// a limit can always do so.
    ///
    /// - Throws: ENOMEM if the budget of the user does not suffice for them.
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
