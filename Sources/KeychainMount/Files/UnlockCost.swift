import Foundation
import Keychain
import SecretCrypto

/// The cost of a derivation from the passphrase of a keychain, which any process with write access to the file can raise.
enum UnlockCost {
    /// Warns, before the derivation, of a cost above that of the last unlock on this device, or above what `create --kdf
    /// sensitive` chooses on this machine.
    ///
    /// - Parameter kept: The cost at the last unlock on this device, if it is known.
    /// - Throws: The error of a cost that is refused.
    static func report(
        _ cost: Argon2id.Cost, kept: Argon2id.Cost? = nil, of keychainName: String, showMessage: (String) -> Void
    ) throws(CLIError) {
        guard cost.isAllowed else { throw CLIError(.unacceptableCost, keychain: keychainName) }
        if let kept, isAbove(kept, cost) {
            showMessage(
                """
                warning: the passphrase of \(keychainName) costs \(cost.passes) passes over \(cost.memory >> 20) MiB, more than at \
                the last unlock here (\(kept.passes) over \(kept.memory >> 20) MiB). If it was not raised since ('slot change --kdf'), \
                another user may have changed the file.
                """)
        }
        guard isAbove(.sensitive, cost), let seconds = Argon2id.estimatedSeconds(for: cost), seconds > 0 else { return }
        let perSecond = Double(cost.work) / seconds
        let passes = UInt64(perSecond / Double(Argon2id.Cost.sensitive.memory))
        let limits = Argon2id.Cost.sensitive.passes...Argon2id.Cost.maximum.passes
        let chosen = Argon2id.Cost(
            passes: min(max(passes, limits.lowerBound), limits.upperBound), memory: Argon2id.Cost.sensitive.memory)
        guard isAbove(chosen, cost) else { return }
        showMessage(
            """
            warning: the passphrase of \(keychainName) costs \(cost.passes) passes over \(cost.memory >> 20) MiB, about \
            \(Int(seconds.rounded(.up))) s: more than 'create --kdf sensitive' chooses here. If you have not chosen that, another user \
            may have changed the file.
            """)
    }

    private static func isAbove(_ limit: Argon2id.Cost, _ cost: Argon2id.Cost) -> Bool {
        cost.work > limit.work || cost.memory > limit.memory
    }
}

extension KeyRing {
    /// Warns of an unusual cost of the passphrase (``UnlockCost``) before the derivation. `path` is for messages.
    func reportCost(of kind: SlotKind, keychain path: String, showMessage: (String) -> Void) throws(CLIError) {
        guard kind.hasPassphrase else { return }
        let cost: Argon2id.Cost
        do throws(KeychainFault) {
            cost = try passphraseCost()
        } catch {
            throw CLIError(error, keychain: path)
        }
        try UnlockCost.report(cost, kept: keptCost(), of: path, showMessage: showMessage)
    }
}

extension SlotListResult {
    /// Warns of an unusual cost of the passphrase of a keychain. Has no effect without a passphrase slot.
    func reportCost(of kind: SlotKind, keychainName: String, showMessage: (String) -> Void) throws(CLIError) {
        guard kind.hasPassphrase, let kdf = slots.lazy.compactMap(\.kdf).first else { return }
        try UnlockCost.report(kdf.cost, kept: kdfAtLastUnlock?.cost, of: keychainName, showMessage: showMessage)
    }
}
