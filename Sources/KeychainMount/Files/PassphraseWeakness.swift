import SecretCrypto

/// The reason why a new passphrase can be guessed. It is accepted nevertheless: a keychain may need no better one.
enum PassphraseWeakness: Equatable {
    case short
    case oneCharacter

    /// The number of characters without a warning (NIST SP 800-63B, the minimum of a password that a user chooses).
    static let minimum = 8

    /// Creates the reason; nil for another passphrase. The text is not copied.
    init?(of passphrase: borrowing SecretBytes) {
        let octets = passphrase.bytes.octets
        var characters = 0
        var others = 0
        for index in 0..<octets.count {
            // Not a continuation byte of UTF-8.
            if octets[index] & 0xC0 != 0x80 { characters += 1 }
            if octets[index] != octets[0] { others += 1 }
        }
        if characters < Self.minimum {
            self = .short
        } else if others == 0 {
            self = .oneCharacter
        } else {
            return nil
        }
    }

    /// The warning, without anything of the passphrase, because it may be logged.
    var text: String {
        let advice = "a holder of a copy of the keychain can guess it. Several unrelated words are better."
        switch self {
        case .short: return "the passphrase has fewer than \(Self.minimum) characters, and \(advice)"
        case .oneCharacter: return "the passphrase repeats one character, and \(advice)"
        }
    }
}
