import CFuse3
import FileSystemCore
import Glibc

/// A listing in the format of the replies to READDIR and READDIRPLUS.
struct DirectoryBuffer: DirectorySink {
    let bytes: WipingBuffer
    let wantsEntries: Bool
    /// The nodes whose lookup counts the reply increments.
    private(set) var nodes: [NodeID] = []
    /// libfuse only uses the address.
    private let request: UInt

    /// - Parameter size: The size of the caller's buffer in bytes.
    init(size: Int, wantsEntries: Bool, request: OpaquePointer) {
        bytes = WipingBuffer(capacity: min(size, SessionOptions.maximumWrite))
        self.wantsEntries = wantsEntries
        self.request = UInt(bitPattern: request)
    }

    var isEmpty: Bool { bytes.count == 0 }

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileType, offset: UInt64) -> Bool {
        var status = stat()
        status.st_ino = UInt(inode.rawValue)
        status.st_mode = type.rawValue
        guard wantsEntries else {
            return unsafe append(name) { request, memory, freeBytes, name in
                unsafe fuse_add_direntry(request, memory, freeBytes, name, &status, Int(truncatingIfNeeded: offset))
            }
        }
        // Node 0: only the name and its type, which does not count as a lookup.
        var parameters = fuse_entry_param()
        parameters.attr = status
        return append(name, parameters, offset)
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool {
        guard wantsEntries, append(name, fuse_entry_param(entry), offset) else { return false }
        nodes.append(entry.node)
        return true
    }

    private func append(_ name: EntryName, _ parameters: fuse_entry_param, _ offset: UInt64) -> Bool {
        var parameters = parameters
        return unsafe append(name) { request, memory, freeBytes, name in
            unsafe fuse_add_direntry_plus(
                request, memory, freeBytes, name, &parameters, Int(truncatingIfNeeded: offset))
        }
    }

    /// Appends an entry if it fits. `write` returns the size of the entry and writes it only if it fits.
    private func append(
        _ name: EntryName,
        _ write: (OpaquePointer?, UnsafeMutablePointer<CChar>, Int, UnsafePointer<CChar>) -> Int
    ) -> Bool {
        let freeBytes = bytes.freeBytes
        let size: Int = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: name.bytes.count + 1) { text in
            for (index, byte) in name.bytes.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
            unsafe text[name.bytes.count] = 0
            guard let base = text.baseAddress else { return Int.max }
            let memory = unsafe bytes.start.advanced(by: bytes.count).assumingMemoryBound(to: CChar.self)
            return unsafe write(OpaquePointer(bitPattern: request), memory, freeBytes, UnsafePointer(base))
        }
        guard size <= freeBytes else { return false }
        bytes.fill(size)
        return true
    }
}
