/// An array with 64-bit indices, of which many consecutive ones are in use, such as rows of a table.
///
/// 32 consecutive elements share one allocation, which is freed with the last of them. If all are in use, an element
/// costs about two bytes more than its size. Not synchronized. All operations are O(1).
public struct SparseArray<Value: BitwiseCopyable & Sendable>: ~Copyable {
    private final class Page {
        /// A bit for each element in use.
        var used: UInt32 = 0
        var values: InlineArray<32, Value>

        init(_ value: Value) { values = InlineArray(repeating: value) }
    }

    private var pages: [UInt64: Page] = [:]
    /// The number of elements in use.
    public private(set) var count = 0

    public init() {}

    /// The element at an index; nil if it is not in use.
    public subscript(place: UInt64) -> Value? {
        get {
            guard let page = pages[place / 32], page.used & Self.bit(place) != 0 else { return nil }
            return page.values[Self.index(place)]
        }
        set {
            if let newValue { set(newValue, at: place) } else { _ = remove(at: place) }
        }
    }

    private mutating func set(_ value: Value, at place: UInt64) {
        let page = pages[place / 32] ?? Page(value)
        if page.used == 0 { pages[place / 32] = page }
        if page.used & Self.bit(place) == 0 { count += 1 }
        page.used |= Self.bit(place)
        page.values[Self.index(place)] = value
    }

    /// Removes and returns an element; nil if it is not in use.
    public mutating func remove(at place: UInt64) -> Value? {
        guard let page = pages[place / 32], page.used & Self.bit(place) != 0 else { return nil }
        page.used &= ~Self.bit(place)
        count -= 1
        if page.used == 0 {
            pages[place / 32] = nil
            pages.shrink()
        }
        return page.values[Self.index(place)]
    }

    /// Modifies an element in place. Returns nil if it is not in use.
    public mutating func update<Result>(_ place: UInt64, _ body: (inout Value) -> Result) -> Result? {
        guard let page = pages[place / 32], page.used & Self.bit(place) != 0 else { return nil }
        return body(&page.values[Self.index(place)])
    }

    /// Calls `body` with each element in use, in no particular order.
    public func forEach(_ body: (UInt64, Value) -> Void) {
        for (number, page) in pages {
            for index in 0..<32 where page.used & 1 << UInt32(index) != 0 {
                body(number * 32 + UInt64(index), page.values[index])
            }
        }
    }

    private static func bit(_ place: UInt64) -> UInt32 { 1 << UInt32(place % 32) }

    private static func index(_ place: UInt64) -> Int { Int(place % 32) }
}
