import Keychain
import SecretCrypto

/// `keychainfs slot`: through the daemon of a mounted keychain, otherwise in its file.
package struct SlotCommandRunner {
    private let host: any SlotBackend
    private let showMessage: (String) -> Void

    /// - Parameters:
    ///   - mountPoint: Nil for the keychain of that file, mounted or not.
    ///   - owner: The required owner of a mount that gets the secrets.
    ///   - showMessage: Called with messages.
    package init(
        keychain file: KeychainPath, mountPoint: String?, owner: MountOwner, showMessage: @escaping (String) -> Void
    ) {
        guard let mountPoint = mountPoint ?? file.mountPoint else {
            self.init(FileSlotBackend(file, showMessage: showMessage), showMessage: showMessage)
            return
        }
        self.init(MountedSlotBackend(mountPoint: mountPoint, owner: owner), showMessage: showMessage)
    }

    init(_ host: any SlotBackend, showMessage: @escaping (String) -> Void) {
        self.host = host
        self.showMessage = showMessage
    }

    package func list() throws(CLIError) -> SlotListResult { try host.list() }

    /// Adds a slot.
    package func add(_ choice: SlotKindOption, _ secrets: SlotSecrets) throws(CLIError) {
        let slots = try host.list()
        let unlocking = try secrets.unlocking(for: choice.kind)
        let new = try secrets.new(choice.kind)
        try slots.reportCost(of: unlocking.kind, keychainName: host.keychainName, showMessage: showMessage)
        let authority = try unlocking.read(for: host.shownName, showMessage: showMessage)
        let change = try write(.add, new, by: authority, confirm: { true })
        showMessage("added slot \(change.slot) (\(choice.rawValue)).\(Self.advice(choice.kind))")
    }

    /// Replaces the secret of a slot.
    ///
    /// - Parameters:
    ///   - choice: Nil for the kind that the new secret implies, or to keep its kind.
    ///   - confirm: Returns whether items may be deleted.
    package func change(
        _ id: Int64, _ choice: SlotKindOption?, _ secrets: SlotSecrets, cost: KDFCostOption?, confirm: () -> Bool
    ) throws(CLIError) {
        let slots = try host.list()
        let kind = try kind(of: id, in: slots, choice, secrets)
        guard cost == nil || kind.hasPassphrase else {
            throw CLIError(.usage, "--kdf is the cost of a passphrase; slot \(id) is another kind of slot.")
        }
        let unlocking = try secrets.unlocking(for: kind)
        let new = try secrets.new(kind, keepsPassphrase: cost != nil && unlocking.kind == kind)
        try slots.reportCost(of: unlocking.kind, keychainName: host.keychainName, showMessage: showMessage)
        let authority = try unlocking.read(for: host.shownName, showMessage: showMessage)
        let request = SlotRequest.change(id, cost: cost?.cost, deletesItems: false)
        let change = try write(request, new, by: authority, confirm: confirm)
        report(change)
        showMessage("changed slot \(id) (\(kind.name)).\(Self.advice(kind))")
        showMessage(Self.olderCopies)
        if let fault = change.stateFault { throw CLIError(fault, after: "Slot \(id) is changed") }
    }

    /// Removes a slot.
    ///
    /// - Parameter confirm: Returns whether items may be deleted.
    package func remove(_ id: Int64, _ unlocking: UnlockSource, confirm: () -> Bool) throws(CLIError) {
        try host.list().reportCost(of: unlocking.kind, keychainName: host.keychainName, showMessage: showMessage)
        let authority = try unlocking.read(for: host.shownName, showMessage: showMessage)
        let change = try run(.remove(id, deletesItems: false), by: authority, new: nil, confirm: confirm)
        report(change)
        showMessage("removed slot \(id).")
        showMessage(Self.olderCopies)
        if let fault = change.stateFault { throw CLIError(fault, after: "Slot \(id) is removed") }
    }

    // MARK: Parts

    private func write(
        _ request: SlotRequest, _ new: NewSecret, by authority: borrowing UnlockSecret, confirm: () -> Bool
    ) throws(CLIError) -> SlotChangeResult {
        switch new {
        case .passphrase(let source):
            let secret: UnlockSecret? = UnlockSecret(
                passphrase: try source.readNew(for: host.shownName, showMessage: showMessage))
            return try run(request, by: authority, new: secret, confirm: confirm)
        case .samePassphrase:
            let secret: UnlockSecret? = try Self.copy(authority)
            return try run(request, by: authority, new: secret, confirm: confirm)
        case .recoveryKey:
            try host.verify(authority)
            let secret: UnlockSecret? = try showRecoveryKey()
            do throws(CLIError) {
                return try run(request, by: authority, new: secret, confirm: confirm)
            } catch {
                let use = error.leavesSlots ? "opens nothing" : "may have become a slot nevertheless: keep it"
                throw CLIError(error.exitCode, error.message + " The recovery key that was shown \(use).")
            }
        case .keyFile(let file):
            return try write(file, showMessage) { (contents) throws(CLIError) in
                try run(request, by: authority, new: contents, confirm: confirm)
            }
        case .passphraseAndKeyFile(let source, let file):
            let passphrase = try source.readNew(for: host.shownName, showMessage: showMessage)
            return try write(file, showMessage) { (contents) throws(CLIError) in
                switch contents {
                case .none: throw CLIError(.failure, "The key file \(file.path) was not read.")
                case .some(let contents):
                    let both: UnlockSecret? = try UnlockSecret(both: passphrase, contents)
                    return try run(request, by: authority, new: both, confirm: confirm)
                }
            }
        }
    }

    /// Creates a key file if necessary, and writes a slot with its contents. Removes the new file if no slot needs it.
    private func write(
        _ file: NewKeyFile, _ showMessage: (String) -> Void,
        _ body: (borrowing UnlockSecret?) throws(CLIError) -> SlotChangeResult
    ) throws(CLIError) -> SlotChangeResult {
        let isNew = try file.make()
        do throws(CLIError) {
            let secret: UnlockSecret? = try file.read(showMessage: showMessage)
            let change = try body(secret)
            if isNew { showMessage("created the key file \(file.path).") }
            return change
        } catch {
            guard isNew else { throw error }
            // It could be the only secret that opens the keychain now.
            guard error.leavesSlots else {
                throw CLIError(
                    error.exitCode,
                    error.message + " The key file \(file.path) may have become a slot nevertheless: keep it.")
            }
            file.remove()
            throw error
        }
    }

    private func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?,
        confirm: () -> Bool
    ) throws(CLIError) -> SlotChangeResult {
        if let change = try host.run(request, by: authority, new: new) { return change }
        let refusal = CLIError(.slotRefused(.passcodeItems), changingSlotsOf: host.keychainName, with: authority.kind)
        guard confirm(), let change = try host.run(request.deletingItems, by: authority, new: new) else {
            throw refusal
        }
        return change
    }

    /// Shows the recovery key before it is used for a slot, because an unseen key must never be the only one.
    private func showRecoveryKey() throws(CLIError) -> UnlockSecret {
        do throws(CryptoError) {
            let key = try RecoveryKey()
            try key.text().write(to: 1)
            return try UnlockSecret(recoveryKey: key)
        } catch {
            throw CLIError(.failure, "The recovery key cannot be written to standard output. Nothing was changed.")
        }
    }

    private static func copy(_ secret: borrowing UnlockSecret) throws(CLIError) -> UnlockSecret {
        let bytes: SecretBytes
        do throws(CryptoError) {
            bytes = try secret.bytes.copy()
        } catch {
            throw CLIError(.failure, "There is no locked memory left for the passphrase.")
        }
        do throws(KeychainFault) {
            return try UnlockSecret(kind: secret.kind, bytes: bytes)
        } catch {
            throw CLIError(.failure, "The unlock secret is not one of a passphrase.")
        }
    }

    /// Returns the kind that a slot gets. One of two secrets never becomes a slot of one because only a part of the new secret is
    /// named.
    private func kind(
        of id: Int64, in list: SlotListResult, _ choice: SlotKindOption?, _ secrets: SlotSecrets
    ) throws(CLIError) -> SlotKind {
        if let choice { return choice.kind }
        let present = try kind(of: id, in: list)
        guard let implied = secrets.impliedKind else { return present }
        guard present != .passphraseAndKeyFile || implied == .both else {
            throw CLIError(
                .usage,
                "Slot \(id) needs a passphrase and a key file: name both new ones, or the other kind with --kind \(implied.rawValue)."
            )
        }
        return implied.kind
    }

    private func kind(of id: Int64, in list: SlotListResult) throws(CLIError) -> SlotKind {
        guard let slot = list.slots.first(where: { $0.id == id }), let kind = SlotKind(name: slot.kind)
        else { throw CLIError(.itemNotFound, changingSlotsOf: host.keychainName, with: .passphrase) }
        return kind
    }

    private func report(_ change: SlotChangeResult) {
        if change.deletedItems > 0 {
            showMessage("deleted \(Counted.items(change.deletedItems)) of the class WhenPasscodeSetThisDeviceOnly.")
        }
        if !change.lostSlots.isEmpty {
            let list = change.lostSlots.map(String.init).joined(separator: ", ")
            showMessage("warning: damaged or forged slots were removed: \(list).")
        }
    }

    private static func advice(_ kind: SlotKind) -> String {
        switch kind {
        case .recoveryKey: " Its key is shown this once: write it down, and keep it away from this machine."
        case .keyFile, .passphraseAndKeyFile: " Keep a copy of its key file elsewhere: every byte of it counts."
        default: ""
        }
    }

    private static let olderCopies = """
        Older copies of the keychain (backups too) still open with the former secret of this slot, and existing items stay \
        encrypted with keys that it opened. 'keychainfs rekey' encrypts them with new keys; create a new backup then.
        """
}

extension CLIError {
    /// Whether the slots are certainly unchanged: not if the response was lost, or the disk has failed in the middle. Some file
    /// systems report that there is no space, or a read-only medium, only when a change is made durable.
    fileprivate var leavesSlots: Bool {
        switch exitCode {
        case .failure, .diskFull, .readOnly, .noAnswer, .notMounted, .interrupted: false
        default: true
        }
    }
}
