import Keychain

/// The slots of a keychain that is not mounted; unlocked by the first secret that is needed, closed at the end.
final class FileSlots: SlotHost {
    private let file: KeychainFile
    private var opened: OpenedKeychain?
    /// What the secret that unlocked it yields: no second Argon2id for the same one.
    private var root: SlotRootKey?

    init(_ file: KeychainFile) {
        self.file = file
    }

    deinit { opened?.keychain.close() }

    var place: String { file.path }

    func list() throws(Failure) -> SlotListAnswer {
        let reading = try file.openToLook()
        defer { reading.keychain.close() }
        do throws(KeychainFault) {
            return SlotListAnswer(try reading.keychain.keys.slots())
        } catch {
            throw Failure(error, keychain: file.path)
        }
    }

    func verify(_ authority: borrowing UnlockSecret) throws(Failure) { _ = try open(authority) }

    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(Failure) -> SlotChangeAnswer? {
        let keychain = try open(authority)
        do throws(KeychainFault) {
            switch root {
            case .none: throw .authFailed
            case .some(let root): return SlotChangeAnswer(try request.run(on: keychain, root: root, new: new))
            }
        } catch .slotRefused(.passcodeItems) {
            return nil
        } catch {
            throw Failure(error, changingSlotsOf: place, with: authority.kind)
        }
    }

    /// Opened for writing, and unlocked.
    private func open(_ authority: borrowing UnlockSecret) throws(Failure) -> KeychainStore {
        if let opened { return opened.keychain }
        let opened = try file.open(isReadOnly: false)
        do throws(KeychainFault) {
            let root = try opened.keychain.keys.root(of: authority)
            try opened.keychain.keys.unlock(root: root)
            self.root = consume root
        } catch {
            opened.keychain.close()
            throw error == .authFailed
                ? Failure(error, changingSlotsOf: place, with: authority.kind) : Failure(error, keychain: file.path)
        }
        self.opened = opened
        return opened.keychain
    }
}
