package import KeychainMount
package import SecretCrypto

/// The text of an item for a program that takes one line (contract, E3 and E8).
package enum SecretText {
    /// Returns the first line of the secret, without its end, or all of it.
    ///
    /// - Throws: The failures of ``ItemReader/read()``; `impossible` if there is no text.
    package static func read(_ name: ItemName, isComplete: Bool) throws(CLIError) -> SecretBytes {
        let secret = try ItemReader(name).read()
        let count = isComplete ? secret.count : lengthOfFirstLine(secret)
        let shown = Printable.text(name.text)
        guard count > 0 else {
            let part =
                secret.count == 0
                ? "\(shown) is empty." : "The first line of \(shown) is empty."
            throw CLIError(.impossible, part)
        }
        do throws(CryptoError) {
            return try secret.slice(0..<count)
        } catch {
            throw CLIError(error, reading: shown)
        }
    }

    /// A line may end as on Windows.
    static func lengthOfFirstLine(_ secret: borrowing SecretBytes) -> Int {
        let octets = secret.bytes.octets
        var end = 0
        while end < octets.count, octets[end] != UInt8(ascii: "\n") { end += 1 }
        let hasReturn = end < octets.count && end > 0 && octets[end - 1] == UInt8(ascii: "\r")
        return hasReturn ? end - 1 : end
    }
}
