import CFuse3
import FileSystemCore

/// A message to a FUSE server (linux/fuse.h): a header, a structure, and names or bytes.
public struct WireRequest: Sendable {
    public var opcode: UInt32
    public var node: UInt64
    public var caller: Caller
    public var body: [UInt8] = []

    public init(
        _ opcode: fuse_opcode, node: NodeID = .root,
        caller: Caller = Caller(userID: 0, groupID: 0, processID: 1)
    ) {
        self.opcode = opcode.rawValue
        self.node = node.rawValue
        self.caller = caller
    }

    /// Appends the bytes of a structure as in memory.
    public mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        withUnsafeBytes(of: value) { body += $0 }
    }

    /// Appends a name with its NUL.
    public mutating func append(name: [UInt8]) { body += name + [0] }

    public mutating func append(bytes: [UInt8]) { body += bytes }

    public func message(unique: UInt64) -> [UInt8] {
        var header = fuse_in_header()
        header.len = UInt32(MemoryLayout<fuse_in_header>.size + body.count)
        header.opcode = opcode
        header.unique = unique
        header.nodeid = node
        header.uid = caller.userID
        header.gid = caller.groupID
        header.pid = UInt32(bitPattern: caller.processID)
        return withUnsafeBytes(of: header) { Array($0) } + body
    }
}

extension [UInt8] {
    /// The structure at `offset`; zeroes where the bytes end before it.
    public func value<Value: BitwiseCopyable>(at offset: Int, as type: Value.Type) -> Value {
        let size = MemoryLayout<Value>.size
        var padded = Array(dropFirst(offset).prefix(size))
        padded += [UInt8](repeating: 0, count: size - padded.count)
        return padded.withUnsafeBytes { $0.loadUnaligned(as: Value.self) }
    }
}
