/// A set of node IDs. Dense ranges use one bit per ID.
public struct NodeSet: Sendable, Equatable {
    private static let width = UInt64(UInt64.bitWidth)
    private var words: [UInt64: UInt64] = [:]

    public init() {}

    public mutating func insert(_ node: NodeID) {
        words[node.rawValue / Self.width, default: 0] |= 1 << (node.rawValue % Self.width)
    }

    public func contains(_ node: NodeID) -> Bool {
        (words[node.rawValue / Self.width] ?? 0) & 1 << (node.rawValue % Self.width) != 0
    }

    /// Calls `body` with each ID, in no particular order.
    public func forEach(_ body: (NodeID) -> Void) {
        for (number, word) in words {
            var rest = word
            while rest != 0 {
                body(NodeID(rawValue: number * Self.width + UInt64(rest.trailingZeroBitCount)))
                rest &= rest - 1
            }
        }
    }
}
