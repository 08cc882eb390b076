package import SecretCrypto

/// Whence the contents of an item come when they are sealed: a staged value, plain bytes, another item's contents.
package protocol SecretSource: ~Copyable, ~Escapable {
    /// Bytes of the contents.
    var secretCount: Int { get }

    /// Reads from `offset` into the first bytes of `output`; returns how many, fewer than fit only at the end.
    /// What follows them in `output` is undefined.
    ///
    /// - Throws: `interactionNotAllowed` if its key is gone, `decode`, `allocate`.
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
