import CSodium

/// Random bytes that are no secret: salts, ids. Keys come from `SecretBytes(randomCount:)`.
package enum SecureRandom {
    /// `count` bytes from the kernel (getrandom(2)); none for a negative count.
    package static func bytes(_ count: Int) -> [UInt8] {
        Sodium.ensure()
        let count = max(0, count)
        return unsafe [UInt8](writing: count) { unsafe randombytes_buf($0, count) }
    }

    /// Fills memory of the caller's from the kernel (getrandom(2)).
    package static func fill(_ bytes: inout MutableRawSpan) {
        Sodium.ensure()
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe randombytes_buf(start, buffer.count)
        }
    }
}
