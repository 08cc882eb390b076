package import SecretCrypto

/// The source of a secret that is about to be sealed: a staged value, plain bytes, another item's secret.
package protocol SecretSource: ~Copyable, ~Escapable {
    /// The size of the secret in bytes.
    var secretCount: Int { get }

    /// Reads from `offset` into the first bytes of `output`. The contents of `output` after them are undefined.
    ///
    /// - Returns: The number of bytes read; fewer than fit only at the end.
    /// - Throws: `interactionNotAllowed` if its key has been revoked; `decode`; `allocate`.
    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int
}

extension RawSpan: SecretSource {
    package var secretCount: Int { byteCount }

    package func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        guard (0...byteCount).contains(offset) else { throw .param }
        return output.write(extracting(offset..<byteCount))
    }
}

extension SecretBytes: SecretSource {
    package var secretCount: Int { count }

    package func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        try bytes.readSecret(at: offset, into: &output)
    }
}

extension SealedBuffer: SecretSource {
    package var secretCount: Int { count }

    package func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        do throws(CryptoError) {
            return try read(at: offset, into: &output)
        } catch {
            throw KeychainFault(error)
        }
    }
}

extension SealedBufferSuffix: SecretSource {
    package var secretCount: Int { count }

    package func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        do throws(CryptoError) {
            return try read(at: offset, into: &output)
        } catch {
            throw KeychainFault(error)
        }
    }
}
