/// Takes an input apart, front to back: what is missing is zero or empty, so that every input means something.
struct InputReader {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func number() -> Int64 {
        (0..<8).reduce(0) { sum, place in sum | Int64(byte()) << Int64(8 * place) }
    }

    /// A count of one byte, then as many bytes as there are of it.
    mutating func counted() -> [UInt8] { bytes(Int(byte())) }

    /// At most `count` bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// An element of `values`, selected by a byte.
    mutating func pick<Value>(_ values: [Value]) -> Value? {
        let index = Int(byte())
        return values.isEmpty ? nil : values[index % values.count]
    }

    mutating func remaining() -> [UInt8] { bytes(rest.count) }
}
