import CFuse3
import Glibc
import SystemPackage

/// A pipe(2) that no other program inherits. Each end is closed once, by the owner to which it was passed or with the
/// pipe.
struct Pipe: ~Copyable {
    private(set) var readEnd: Int32
    private(set) var writeEnd: Int32

    init() throws(Errno) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw Errno(rawValue: errno) }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        if readEnd >= 0 { close(readEnd) }
        if writeEnd >= 0 { close(writeEnd) }
    }

    mutating func closeReadEnd() {
        if readEnd >= 0 { close(readEnd) }
        readEnd = -1
    }

    mutating func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// Passes ownership of the read end to the caller.
    mutating func takeReadEnd() -> Int32 {
        defer { readEnd = -1 }
        return readEnd
    }

    /// Passes ownership of the write end to the caller.
    mutating func takeWriteEnd() -> Int32 {
        defer { writeEnd = -1 }
        return writeEnd
    }
}

/// Reads to the end of file, at most `limit` bytes.
func readAll(_ descriptor: Int32, limit: Int = 65_536) -> [UInt8] {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while all.count < limit {
        let count = unsafe read(descriptor, &chunk, min(chunk.count, limit - all.count))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        all += chunk[..<count]
    }
    return all
}
