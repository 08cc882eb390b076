package import SecretCrypto

extension KeychainFault {
    /// Maps an error of a cryptographic operation.
    ///
    /// A refused parameter is a key, salt or public key of a wrong size. These come from the store: `decode`.
    package init(_ error: CryptoError) {
        switch error {
        case .outOfSecretMemory, .outOfMemory: self = .allocate
        // No memory for staged data, which is a full disk for its writer.
        case .overBudget: self = .diskFull
        case .authenticationFailed, .invalidParameter: self = .decode
        case .keyUnavailable: self = .interactionNotAllowed
        case .io(let number): self = .io(-number)
        }
    }

    /// Runs an operation and maps its errors.
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
    /// Runs an operation with the secret.
    ///
    /// - Throws: `interactionNotAllowed` after its revocation.
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
