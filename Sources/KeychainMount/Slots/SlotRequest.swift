import Keychain
import SecretCrypto

/// A change of slots, as a line of the control file, which secrets follow (``UnlockFrames``).
enum SlotRequest: Hashable {
    /// Whether the secret opens a slot.
    case verify
    case add
    case change(Int64, cost: Argon2id.Cost?, deletesItems: Bool)
    case remove(Int64, deletesItems: Bool)

    static let list = "slot list"
    private static let verb = "slot"
    private static let deletion = "--delete-items"

    /// Parses a line; nil for another command, or an invalid one.
    init?(line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.first == Self.verb, words.count >= 2 else { return nil }
        let options = words.dropFirst(3)
        switch (words[1], words.count > 2 ? Int64(words[2]) : nil) {
        case ("verify", nil) where words.count == 2: self = .verify
        case ("add", nil) where words.count == 2: self = .add
        case ("remove", let id?):
            guard options.allSatisfy({ $0 == Self.deletion }) else { return nil }
            self = .remove(id, deletesItems: !options.isEmpty)
        case ("change", let id?):
            let numbers = options.filter { $0 != Self.deletion }.compactMap(UInt64.init)
            let deletesItems = options.contains(Self.deletion)
            guard options.count == numbers.count + (deletesItems ? 1 : 0), [0, 2].contains(numbers.count) else {
                return nil
            }
            let cost = numbers.isEmpty ? nil : Argon2id.Cost(passes: numbers[0], memory: numbers[1])
            self = .change(id, cost: cost, deletesItems: deletesItems)
        default: return nil
        }
    }

    var line: String {
        switch self {
        case .verify: return "\(Self.verb) verify"
        case .add: return "\(Self.verb) add"
        case .remove(let id, let deletesItems): return "\(Self.verb) remove \(id)" + Self.option(deletesItems)
        case .change(let id, let cost, let deletesItems):
            let numbers = cost.map { " \($0.passes) \($0.memory)" } ?? ""
            return "\(Self.verb) change \(id)" + numbers + Self.option(deletesItems)
        }
    }

    private static func option(_ deletesItems: Bool) -> String { deletesItems ? " " + deletion : "" }

    /// The request with the permission to delete items of WhenPasscodeSetThisDeviceOnly.
    var deletingItems: SlotRequest {
        switch self {
        case .verify, .add: self
        case .change(let id, let cost, _): .change(id, cost: cost, deletesItems: true)
        case .remove(let id, _): .remove(id, deletesItems: true)
        }
    }

    /// Whether items of WhenPasscodeSetThisDeviceOnly may have been deleted with a passphrase slot.
    var mayDeleteItems: Bool {
        switch self {
        case .verify, .add: false
        case .change, .remove: true
        }
    }

    // MARK: Doing it

    /// Executes the request with the secrets from the control file.
    func run(_ secrets: RawSpan, on keychain: KeychainStore) throws(KeychainFault) -> SlotChange {
        var offset = 0
        let authority = try UnlockFrames.read(secrets, at: &offset)
        let root = try keychain.keys.root(of: authority)
        guard needsNewSecret else { return try run(on: keychain, root: root, new: nil) }
        return try run(on: keychain, root: root, new: UnlockFrames.read(secrets, at: &offset))
    }

    private var needsNewSecret: Bool {
        switch self {
        case .verify, .remove: false
        case .add, .change: true
        }
    }

    func run(
        on keychain: KeychainStore, root: borrowing SlotRootKey, new: borrowing UnlockSecret?
    ) throws(KeychainFault) -> SlotChange {
        switch self {
        case .verify:
            try keychain.keys.verify(root)
            return SlotChange(id: 0)
        case .remove(let id, let deletesItems):
            return try keychain.removeSlot(id, authorizedBy: root, deletesPasscodeItems: deletesItems)
        case .add, .change: break
        }
        switch new {
        case .none: throw .param
        case .some(let new): return try write(new, to: keychain, root: root)
        }
    }

    private func write(
        _ new: borrowing UnlockSecret, to keychain: KeychainStore, root: borrowing SlotRootKey
    ) throws(KeychainFault) -> SlotChange {
        guard case .change(let id, let cost, let deletesItems) = self else {
            return try keychain.addSlot(new, authorizedBy: root)
        }
        return try keychain.changeSlot(
            id, to: new, cost: cost, authorizedBy: root, deletesPasscodeItems: deletesItems)
    }
}
