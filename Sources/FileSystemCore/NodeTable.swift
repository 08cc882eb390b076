/// The nodes that the kernel knows, and their lookup counts.
///
/// Not synchronized; the owner protects it with a mutex. All operations except those on all nodes are O(1).
public struct NodeTable<Node: AnyObject & Sendable>: ~Copyable {
    private struct KnownNode {
        var node: Node
        var lookups: UInt64
    }

    private var nodes: [NodeID: KnownNode] = [:]
    private var next: UInt64

    /// Creates a table with `root`, which is never removed. Other node IDs start at `FUSE_ROOT_ID + 1`.
    public init(root: Node) {
        nodes[.root] = KnownNode(node: root, lookups: 1)
        next = NodeID.root.rawValue + 1
    }

    /// The number of nodes, including the root.
    public var count: Int { nodes.count }

    /// Returns a node ID that has not been used in this mount.
    public mutating func makeID() -> NodeID {
        defer { next += 1 }
        return NodeID(rawValue: next)
    }

    /// The node with the ID; nil if the kernel should not know it.
    public subscript(id: NodeID) -> Node? { nodes[id]?.node }

    /// Adds `count` to the lookup count of `node`, and adds the node to the table if necessary.
    public mutating func addLookups(_ node: Node, as id: NodeID, count: UInt64 = 1) {
        nodes[id, default: KnownNode(node: node, lookups: 0)].lookups += count
    }

    /// Subtracts `count` from the lookup count. Returns the node if the count becomes zero. The root stays.
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

    /// Calls `body` with each node, in no particular order.
    public func forEach(_ body: (NodeID, Node) -> Void) {
        for (id, known) in nodes { body(id, known.node) }
    }

    /// Removes the nodes without other references for which `replace` returns true. O(n).
    ///
    /// - Parameter replace: Called with the lookup count, which it must store if it returns true.
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
    /// Replaces a dictionary that was much larger before by a smaller one, because a dictionary never reduces its
    /// capacity.
    ///
    /// Amortized O(1) if called after each removal.
    public mutating func shrink() {
        guard capacity > 4096, count < capacity / 8 else { return }
        self = Dictionary(minimumCapacity: count * 2).merging(self) { first, _ in first }
    }
}
