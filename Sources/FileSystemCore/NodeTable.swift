/// The nodes that the kernel knows, with their lookup counts.
///
/// Not synchronized: its owner keeps it behind a lock. All operations but those on all nodes are O(1).
public struct NodeTable<Node: AnyObject & Sendable>: ~Copyable {
    private struct KnownNode {
        var node: Node
        var lookups: UInt64
    }

    private var nodes: [NodeID: KnownNode] = [:]
    private var next: UInt64

    /// `root` is always there; numbers are given from `FUSE_ROOT_ID + 1` on.
    public init(root: Node) {
        nodes[.root] = KnownNode(node: root, lookups: 1)
        next = NodeID.root.rawValue + 1
    }

    /// How many nodes are here, the root included.
    public var count: Int { nodes.count }

    /// A number that no node of this mount has had.
    public mutating func makeID() -> NodeID {
        defer { next += 1 }
        return NodeID(rawValue: next)
    }

    /// The node of that number, or nil if the kernel should not know it.
    public subscript(id: NodeID) -> Node? { nodes[id]?.node }

    /// The kernel is about to be given `node`, or has been given it so often: adds to its lookup count.
    public mutating func addLookups(_ node: Node, as id: NodeID, count: UInt64 = 1) {
        nodes[id, default: KnownNode(node: node, lookups: 0)].lookups += count
    }

    /// Takes `count` off; returns the node when the kernel no longer knows it. The root stays.
    public mutating func forget(_ id: NodeID, count: UInt64) -> Node? {
        guard id != .root, let known = nodes[id] else { return nil }
        guard known.lookups <= count else {
            nodes[id]?.lookups -= count
            return nil
        }
        nodes[id] = nil
        nodes.shrink()
        return known.node
    }

    /// Calls `body` with each known node, in no order.
    public func forEach(_ body: (NodeID, Node) -> Void) {
        for (id, known) in nodes { body(id, known.node) }
    }

    /// Takes out the nodes that nothing else refers to and of which `replace` says true: it is given the lookup count, which its
    /// caller has to keep. O(n).
    public mutating func removeUnreferenced(_ replace: (NodeID, Node, UInt64) -> Bool) {
        var index = nodes.startIndex
        var replaced: [NodeID] = []
        while index != nodes.endIndex {
            if isKnownUniquelyReferenced(&nodes.values[index].node) {
                let (id, known) = nodes[index]
                if replace(id, known.node, known.lookups) { replaced.append(id) }
            }
            nodes.formIndex(after: &index)
        }
        for id in replaced { nodes[id] = nil }
        nodes.shrink()
    }
}

extension Dictionary {
    /// Makes a smaller one of a dictionary that was once much larger: one keeps the room of its largest size for ever.
    ///
    /// Amortized O(1) if called after each removal.
    public mutating func shrink() {
        guard capacity > 4096, count < capacity / 8 else { return }
        self = Dictionary(minimumCapacity: count * 2).merging(self) { first, _ in first }
    }
}
