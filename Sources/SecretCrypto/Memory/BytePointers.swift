/// Bytes as C wants them: `unsigned char *`, never null, valid inside `body` only.
extension RawSpan {
    func withPointer<T, E>(_ body: (UnsafePointer<UInt8>) throws(E) -> T) throws(E) -> T {
        try unsafe withUnsafeBytes { (buffer: UnsafeRawBufferPointer) throws(E) -> T in
            // An empty span may have no address at all.
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
    /// An array of `count` bytes that `body` writes, all of them. There is an address even for none.
    init(writing count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe self.init(unsafeUninitializedCapacity: Swift.max(1, count)) { buffer, filled in
            guard let start = buffer.baseAddress else { return }
            unsafe body(start)
            filled = count
        }
    }
}
