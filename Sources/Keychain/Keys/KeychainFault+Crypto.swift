package import SecretCrypto

extension KeychainFault {
    /// What a failure of a calculation means for a keychain.
    ///
    /// A refused parameter is a key, salt or public key of a wrong size, and those come from the store: `decode`.
    package init(_ error: CryptoError) {
        switch error {
        case .outOfSecretMemory, .outOfMemory: self = .allocate
        // What is staged has no room: for its writer that is a full disk.
        case .overBudget: self = .diskFull
        case .authenticationFailed, .invalidParameter: self = .decode
        case .keyUnavailable: self = .interactionNotAllowed
        case .io(let number): self = .io(-number)
        }
    }

    /// Runs a calculation; its errors become keychain errors.
    package static func translating<T: ~Copyable>(
        _ body: () throws(CryptoError) -> T
    ) throws(KeychainFault) -> T {
        do throws(CryptoError) {
            return try body()
        } catch {
            throw KeychainFault(error)
        }
    }
}

extension RevocableSecret {
    /// Runs a calculation with the secret; `interactionNotAllowed` once it is revoked.
    package func using<T: ~Copyable>(
        _ body: (borrowing SecretBytes) throws(CryptoError) -> T
    ) throws(KeychainFault) -> T {
        do throws(CryptoError) {
            return try use(body)
        } catch {
            throw KeychainFault(error)
        }
    }
}
