import FileSystemCore
import SystemPackage

extension PathClient {
    public func stat(_ path: String) throws(Errno) -> Attributes {
        try with(path) { node, attributes throws(Errno) in
            if let attributes { return attributes }
            return try status(node)
        }
    }

    /// The kernel asks without the descriptor.
    public func fstat(_ descriptor: Int) throws(Errno) -> Attributes { try status(file(descriptor).node) }

    private func status(_ node: NodeID) throws(Errno) -> Attributes {
        try run { request throws(Errno) in
            try fileSystem.getattr(&request, node: node, handle: nil).attributes
        }
    }

    private func change(_ node: NodeID, _ body: (inout AttributeChanges) -> Void) throws(Errno) {
        var changes = AttributeChanges()
        body(&changes)
        if changes.size != nil { changes.lockOwner = owner }
        let final = changes
        _ = try run { request throws(Errno) in
            try fileSystem.setattr(&request, node: node, changes: final)
        }
    }

    public func ftruncate(_ descriptor: Int, _ size: UInt64) throws(Errno) {
        let file = try file(descriptor)
        guard file.flags.isWritable else { throw .invalidArgument }
        try change(file.node) {
            $0.size = size
            $0.handle = file.file.handle
        }
    }

    public func truncate(_ path: String, _ size: UInt64) throws(Errno) {
        try with(path) { node, attributes throws(Errno) in
            if attributes?.type == .directory { throw .isDirectory }
            try change(node) { $0.size = size }
        }
    }

    public func chmod(_ path: String, _ permissions: UInt32) throws(Errno) {
        try with(path) { node, _ throws(Errno) in try change(node) { $0.permissions = permissions } }
    }

    public func chown(_ path: String, user: UInt32?, group: UInt32?) throws(Errno) {
        try with(path) { node, _ throws(Errno) in
            try change(node) {
                $0.userID = user
                $0.groupID = group
            }
        }
    }

    public func setTimes(
        _ path: String, access: AttributeChanges.Time?, modification: AttributeChanges.Time?
    ) throws(Errno) {
        try with(path) { node, _ throws(Errno) in
            try change(node) {
                $0.accessTime = access
                $0.modificationTime = modification
            }
        }
    }

    public func setxattr(_ path: String, _ name: String, _ value: [UInt8], _ flags: XattrFlags) throws(Errno) {
        try with(path) { node, _ throws(Errno) in
            try run { request throws(Errno) in
                try fileSystem.setxattr(
                    &request, node: node, name: Array(name.utf8), value: value.span.bytes, flags: flags)
            }
        }
    }

    public func getxattr(_ path: String, _ name: String) throws(Errno) -> [UInt8] {
        try with(path) { node, _ throws(Errno) in
            try run { request throws(Errno) in
                try fileSystem.getxattr(&request, node: node, name: Array(name.utf8))
            }
        }
    }

    public func listxattr(_ path: String) throws(Errno) -> [String] {
        try with(path) { node, _ throws(Errno) in
            let names = try run { request throws(Errno) in try fileSystem.listxattr(&request, node: node) }
            return names.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    public func removexattr(_ path: String, _ name: String) throws(Errno) {
        try with(path) { node, _ throws(Errno) in
            try run { request throws(Errno) in
                try fileSystem.removexattr(&request, node: node, name: Array(name.utf8))
            }
        }
    }

    public func statistics(_ path: String) throws(Errno) -> FileSystemStatistics {
        try with(path) { node, _ throws(Errno) in
            try run { request throws(Errno) in try fileSystem.statfs(&request, node: node) }
        }
    }
}
