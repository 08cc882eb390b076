internal import SecretCrypto

/// A source of random bytes. Only ``kSecRandomDefault`` exists.
public typealias SecRandomRef = OpaquePointer

/// The kernel's random generator.
public nonisolated(unsafe) let kSecRandomDefault: SecRandomRef? = nil

/// Fills `count` bytes at `bytes` from the kernel's random generator (getrandom(2)).
///
/// - Parameter rnd: ignored.
/// - Returns: ``errSecSuccess``; ``errSecParam`` for a negative count.
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var span = unsafe MutableRawSpan(_unsafeStart: bytes, byteCount: count)
    SecureRandom.fill(&span)
    return errSecSuccess
}
