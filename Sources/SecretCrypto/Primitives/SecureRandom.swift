import CSodium

/// Public random bytes, such as salts and IDs. Keys use `SecretBytes(randomCount:)`.
package enum SecureRandom {
    /// Returns `count` bytes from the kernel (getrandom(2)); none for a negative count.
    package static func bytes(_ count: Int) -> [UInt8] {
        Sodium.ensure()
        let count = max(0, count)
        return unsafe [UInt8](writing: count) { unsafe randombytes_buf($0, count) }
    }

    /// Returns a uniformly distributed number below `bound` (randombytes_uniform: with rejection, without bias); 0 if `bound` is 0 or 1.
    package static func number(below bound: Int) -> Int {
        Sodium.ensure()
        return Int(randombytes_uniform(UInt32(clamping: bound)))
    }

    /// Fills the caller's memory from the kernel (getrandom(2)).
    package static func fill(_ bytes: inout MutableRawSpan) {
        Sodium.ensure()
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe randombytes_buf(start, buffer.count)
        }
    }
}
