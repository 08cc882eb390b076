import Glibc

// Access to bytes of spans for targets without unsafe code. The standard library marks these operations as unsafe
// because they are generic over types with padding; UInt8 has no padding.

extension [UInt8] {
    /// The elements as raw bytes, valid while the array is borrowed.
    package var rawSpan: RawSpan {
        @_lifetime(borrow self)
        get { unsafe span.bytes }
    }

    /// Creates a copy in ordinary memory. Not for secrets.
    package init(copying bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
}

extension RawSpan {
    /// Whether all bytes are zero. The time depends on their number alone.
    package var isZero: Bool {
        let octets = octets
        var any: UInt8 = 0
        for index in octets.indices { any |= octets[index] }
        return any == 0
    }

    /// The bytes with a checked subscript, as `UTF8Span(validating:)` takes them.
    package var octets: Span<UInt8> {
        @_lifetime(copy self)
        get { unsafe _unsafeView(as: UInt8.self) }
    }

    /// Whether the bytes contain `part`. True for an empty part. Not in constant time.
    package func contains(_ part: [UInt8]) -> Bool {
        unsafe withUnsafeBytes { unsafe $0.contains(part) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes contain `part`. Uses memchr(3), because a query may search every row. Not in constant time.
    func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        guard count >= part.count, var start = baseAddress else { return false }
        let last = unsafe start + (count - part.count)
        while unsafe start <= last, let found = unsafe memchr(start, Int32(first), last - start + 1) {
            if unsafe memcmp(found, part, part.count) == 0 { return true }
            unsafe start = UnsafeRawPointer(found) + 1
        }
        return false
    }
}

extension MutableRawSpan {
    /// Copies as much of `source` as fits from `offset` on. Returns the number of bytes copied.
    package mutating func write(_ source: RawSpan, at offset: Int = 0) -> Int {
        guard offset >= 0, offset < byteCount else { return 0 }
        let count = Swift.min(source.byteCount, byteCount - offset)
        unsafe withPointer { target in
            unsafe source.withPointer { unsafe (target + offset).update(from: $0, count: count) }
        }
        return count
    }

    /// Sets the part of `range` that is within the bytes to zero.
    package mutating func clear(_ range: Range<Int>) {
        let range = range.clamped(to: byteOffsets)
        unsafe withPointer { unsafe ($0 + range.lowerBound).update(repeating: 0, count: range.count) }
    }
}
