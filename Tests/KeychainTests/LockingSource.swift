import Keychain
import SecretCrypto

/// Contents in whose middle the keychain is locked.
struct LockingSource: SecretSource {
    let ring: KeyRing
    let contents: [UInt8]

    var secretCount: Int { contents.count }

    func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        ring.lock()
        let source = contents.rawSpan
        return try source.readSecret(at: offset, into: &output)
    }
}
