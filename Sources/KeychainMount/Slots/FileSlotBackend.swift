import Keychain

/// The slots of a keychain that is not mounted. Opened by the first secret, closed at the end.
final class FileSlotBackend: SlotBackend {
    private let file: KeychainPath
    private let showMessage: (String) -> Void
    private var opened: OpenedKeychain?
    /// The root key of the secret that opened it, so that the same secret costs no second Argon2id.
    private var root: SlotRootKey?

    /// - Parameter showMessage: Called with warnings.
    init(_ file: KeychainPath, showMessage: @escaping (String) -> Void) {
        self.file = file
        self.showMessage = showMessage
    }

    deinit { opened?.keychain.close() }

    var keychainName: String { file.path }
    var shownName: String { file.shownName }

    func list() throws(CLIError) -> SlotListResult {
        let reading = try file.openForReading()
        defer { reading.keychain.close() }
        do throws(KeychainFault) {
            let keys = reading.keychain.keys
            return SlotListResult(try keys.slots(), keptCost: keys.keptCost())
        } catch {
            throw CLIError(error, keychain: file.path)
        }
    }

    func verify(_ authority: borrowing UnlockSecret) throws(CLIError) { _ = try open(authority) }

    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(CLIError) -> SlotChangeResult? {
        let keychain = try open(authority)
        do throws(KeychainFault) {
            switch root {
            case .none: throw .authFailed
            case .some(let root):
                let change = try request.run(on: keychain, root: root, new: new)
                return SlotChangeResult(change, stateFault: keychain.keys.stateFault)
            }
        } catch .slotRefused(.passcodeItems) {
            return nil
        } catch {
            throw CLIError(error, changingSlotsOf: keychainName, with: authority.kind)
        }
    }

    /// Opens the keychain for writing, and unlocks it.
    private func open(_ authority: borrowing UnlockSecret) throws(CLIError) -> KeychainStore {
        if let opened { return opened.keychain }
        let opened = try file.open(isReadOnly: false)
        do throws(KeychainFault) {
            let root = try opened.keychain.keys.root(of: authority)
            try opened.keychain.keys.unlock(root: root)
            self.root = consume root
        } catch {
            opened.keychain.close()
            throw error == .authFailed
                ? CLIError(error, changingSlotsOf: keychainName, with: authority.kind)
                : CLIError(error, keychain: file.path)
        }
        if let warning = StatusReport.Device.warning(of: opened.keychain.keys) { showMessage("warning: \(warning).") }
        self.opened = opened
        return opened.keychain
    }
}
