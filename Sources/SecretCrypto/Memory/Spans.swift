import Glibc

// What targets without unsafe code need to get bytes into and out of spans. The standard library marks these unsafe
// because they are generic over types with padding; for UInt8 there is nothing to go wrong.

extension [UInt8] {
    /// The elements as raw bytes, while the array is borrowed.
    package var rawSpan: RawSpan {
        @_lifetime(borrow self)
        get { unsafe span.bytes }
    }

    /// A copy in ordinary memory, so never of a secret that has to stay in the arena.
    package init(copying bytes: RawSpan) {
        self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
}

extension RawSpan {
    /// The bytes one by one, through a checked subscript; `UTF8Span(validating:)` takes it too.
    package var octets: Span<UInt8> {
        @_lifetime(copy self)
        get { unsafe _unsafeView(as: UInt8.self) }
    }

    /// Whether `part` lies somewhere in the bytes; an empty one does. The time it takes depends on both.
    package func contains(_ part: [UInt8]) -> Bool {
        unsafe withUnsafeBytes { unsafe $0.contains(part) }
    }
}

extension UnsafeRawBufferPointer {
    /// The same. By memchr(3), as queries look into every row that there is.
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
    /// Copies as much of `source` as there is room for from `offset` on; returns how many bytes.
    package mutating func write(_ source: RawSpan, at offset: Int = 0) -> Int {
        guard offset >= 0, offset < byteCount else { return 0 }
        let count = Swift.min(source.byteCount, byteCount - offset)
        unsafe withPointer { target in
            unsafe source.withPointer { unsafe (target + offset).update(from: $0, count: count) }
        }
        return count
    }

    /// Zeros `range`, as much of it as there is.
    package mutating func clear(_ range: Range<Int>) {
        let range = range.clamped(to: byteOffsets)
        unsafe withPointer { unsafe ($0 + range.lowerBound).update(repeating: 0, count: range.count) }
    }
}
