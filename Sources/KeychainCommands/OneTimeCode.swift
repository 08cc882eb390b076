package import KeychainMount
package import SecretCrypto

/// The one-time code of an item (contract, E5).
package enum OneTimeCode {
    /// Returns the code of a time, with a line feed, and how many seconds it stays valid.
    ///
    /// - Parameters:
    ///   - name: The item, which contains the key.
    ///   - seconds: The time since the epoch.
    /// - Throws: `impossible` if the item contains no key that is supported, or the time is before the epoch.
    package static func code(of name: ItemName, at seconds: Int64) throws(CLIError) -> Result {
        let shown = try name.mountedItem().shown
        let contents = try ItemReader(name).read()
        let key: OneTimeKey
        do throws(OneTimeKey.ParseError) {
            key = try OneTimeKey.find(in: contents)
        } catch {
            throw CLIError(error, item: shown)
        }
        do throws(CryptoError) {
            return Result(text: try key.code(at: seconds), secondsLeft: key.secondsLeft(at: seconds))
        } catch {
            throw error == .invalidParameter
                ? CLIError(.impossible, "The clock of this machine is before 1970: there is no code for that time.")
                : CLIError(error, reading: shown)
        }
    }

    package struct Result: ~Copyable {
        package let text: SecretBytes
        package let secondsLeft: Int64
    }
}

extension CLIError {
    fileprivate init(_ error: OneTimeKey.ParseError, item: String) {
        switch error {
        case .noKey:
            self.init(
                .impossible,
                """
                \(item) contains no key of one-time codes: a line that begins with 'otpauth://totp/' and has a secret, or a \
                Base32 key of 16 to 128 characters alone.
                """)
        case .counter:
            self.init(
                .impossible, "\(item) contains a key of codes by a counter (otpauth://hotp/), which are not supported.")
        case .parameter(let name):
            self.init(
                .impossible,
                """
                The parameter '\(name)' of the key in \(item) is not supported: algorithm is SHA1, SHA256 or SHA512, digits 6 to \
                8, period 1 to 300 seconds, each at most once; encoder is none.
                """)
        case .memory: self.init(CryptoError.outOfSecretMemory, reading: item)
        }
    }
}
