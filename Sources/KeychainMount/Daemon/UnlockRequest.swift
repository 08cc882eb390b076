import Keychain

/// The line of the control command `unlock`, which a secret follows.
struct UnlockRequest: Hashable {
    let kind: SlotKind
    let acceptsRollback: Bool

    private static let verb = "unlock"
    private static let rollbackOption = "--accept-rollback"
    private static let kinds: [String: SlotKind] = [
        "--recovery": .recoveryKey, "--key-file": .keyFile, "--passphrase-and-key-file": .passphraseAndKeyFile,
    ]

    init(kind: SlotKind, acceptsRollback: Bool) {
        self.kind = kind
        self.acceptsRollback = acceptsRollback
    }

    /// Parses a line; nil for another command, or an unknown option.
    init?(line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.first == Self.verb else { return nil }
        let options = words.dropFirst().filter { $0 != Self.rollbackOption }
        let kinds = options.compactMap { Self.kinds[$0] }
        guard kinds.count == options.count, kinds.count <= 1 else { return nil }
        kind = kinds.first ?? .passphrase
        acceptsRollback = words.contains(Self.rollbackOption)
    }

    var line: String {
        let kindOption = Self.kinds.first { $0.value == kind }.map { [$0.key] } ?? []
        return ([Self.verb] + kindOption + (acceptsRollback ? [Self.rollbackOption] : [])).joined(separator: " ")
    }
}
