import Keychain
package import KeychainMount
package import SecretCrypto

/// The request of a program that asks an askpass program for one line (contract, E8; ssh(1), gitcredentials(7), sudo(8)).
package struct AskpassPrompt: Sendable {
    /// The variable that names the item. The prompt does not, because servers write prompts.
    package static let variable = "KEYCHAINFS_ASKPASS_ITEM"

    private let isForUserName: Bool

    /// - Parameters:
    ///   - text: The prompt.
    ///   - kind: The value of `SSH_ASKPASS_PROMPT`.
    /// - Throws: `failure` for a question that only a person can answer.
    package init(_ text: String, kind: String?) throws(CLIError) {
        let trimmed = text.prefix(
            upTo: text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex)
        let isQuestion = trimmed.hasSuffix(")?") && trimmed.contains("(yes/no")
        guard !isQuestion, kind != "confirm", kind != "none" else {
            throw CLIError(.failure, "This question is not for a password. Answer it at a terminal.")
        }
        isForUserName = text.hasPrefix("Username")
    }

    /// Returns the account or the first line of the secret, with a line feed.
    ///
    /// - Throws: The failures of ``SecretText/read(_:isComplete:)``.
    package func answer(from item: ItemName) throws(CLIError) -> SecretBytes {
        guard isForUserName else { return try Self.line(try SecretText.read(item, isComplete: false)) }
        let mounted = try item.mountedItem()
        guard case .key(let value)? = try? CanonicalName(typed: Array(mounted.location.name.utf8)).account(),
            let account = value.bytes, !account.isEmpty, !account.contains(where: { [0, 0x0A, 0x0D].contains($0) })
        else {
            throw CLIError(.impossible, "The account of \(mounted.shown) is empty, or not one line.")
        }
        var text = try Self.memory(account.count)
        for (index, byte) in account.enumerated() { text.set(byte, at: index) }
        return try Self.line(text)
    }

    private static func line(_ text: borrowing SecretBytes) throws(CLIError) -> SecretBytes {
        var line = try memory(text.count + 1)
        var output = line.mutableBytes
        _ = output.write(text.bytes)
        line.set(UInt8(ascii: "\n"), at: text.count)
        return line
    }

    private static func memory(_ count: Int) throws(CLIError) -> SecretBytes {
        do throws(CryptoError) {
            return try SecretBytes(count: count)
        } catch {
            throw CLIError(error, reading: "the item")
        }
    }
}
