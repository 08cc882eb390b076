import CFuse3
import FileSystemCore
import Glibc
public import SystemPackage

/// Extended attributes of a file by its path (xattr(7)). Names are bytes, which need not be text.
public enum ExtendedAttributes {
    /// Returns the value of an attribute (getxattr(2)).
    public static func get(_ name: [UInt8], of path: String) throws(Errno) -> [UInt8] {
        let name = name.map { CChar(bitPattern: $0) } + [0]
        return try unsafe sized { unsafe getxattr(path, name, $0, $1) }
    }

    /// Sets the value of an attribute of an open file (fsetxattr(2)).
    public static func set(_ name: String, to value: [UInt8], of file: FileDescriptor) throws(Errno) {
        guard unsafe fsetxattr(file.rawValue, name, value, value.count, 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Returns the names of the attributes (listxattr(2)).
    public static func list(of path: String) throws(Errno) -> [[UInt8]] {
        let names = try unsafe sized { unsafe listxattr(path, $0?.assumingMemoryBound(to: CChar.self), $1) }
        return names.split(separator: 0).map(Array.init)
    }

    /// Queries the size, then the bytes; repeats both if the size has grown in between.
    private static func sized(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
        for _ in 0..<8 {
            let size = call(nil, 0)
            guard size >= 0 else { throw Errno(rawValue: errno) }
            guard size > 0 else { return [] }
            var bytes = [UInt8](repeating: 0, count: size)
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe call($0.baseAddress, $0.count) }
            if count >= 0 { return Array(bytes.prefix(count)) }
            guard errno == ERANGE else { throw Errno(rawValue: errno) }
        }
        throw .outOfRange
    }
}
