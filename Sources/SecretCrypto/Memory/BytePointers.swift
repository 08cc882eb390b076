/// Pointers for C functions: `unsigned char *`, never null, valid only inside `body`.
extension RawSpan {
    func withPointer<T, E>(_ body: (UnsafePointer<UInt8>) throws(E) -> T) throws(E) -> T {
        try unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) throws(E) -> T in
            // The base address of an empty span may be nil.
            guard let start = buffer.baseAddress else {
                return try unsafe withUnsafePointer(to: 0 as UInt8) { (none) throws(E) -> T in try unsafe body(none) }
            }
            return try unsafe body(start.assumingMemoryBound(to: UInt8.self))
        }
    }
}

extension MutableRawSpan {
    mutating func withPointer<T, E>(_ body: (UnsafeMutablePointer<UInt8>) throws(E) -> T) throws(E) -> T {
        try unsafe withUnsafeMutableBytes { (buffer: UnsafeMutableRawBufferPointer) throws(E) -> T in
            guard let start = buffer.baseAddress else {
                var none: UInt8 = 0
                return try unsafe withUnsafeMutablePointer(to: &none) { (none) throws(E) -> T in
                    try unsafe body(none)
                }
            }
            return try unsafe body(start.assumingMemoryBound(to: UInt8.self))
        }
    }
}

extension [UInt8] {
    /// Creates an array of `count` bytes, all of which `body` must write. The address is valid even if `count` is 0.
    init(writing count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe self.init(unsafeUninitializedCapacity: Swift.max(1, count)) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            unsafe body(start)
            filled = count
        }
    }
}
