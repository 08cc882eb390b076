import Glibc

/// Small files below `/proc`, whose contents the kernel generates during a read.
enum ProcFile {
    /// Returns the result of one read of at most 4 KiB; nil if the file cannot be read or is empty.
    static func read(_ path: String) -> String? { readBytes(path).map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the result of one read of at most 4 KiB as bytes. For calls on the request path.
    static func readBytes(_ path: String) -> [UInt8]? { read(path, reads: 1) }

    /// Whether the file begins with these bytes, at most eight; false if it cannot be read.
    static func begins(_ path: String, with prefix: StaticString) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes: UInt64 = 0
        let wanted = min(prefix.utf8CodeUnitCount, MemoryLayout.size(ofValue: bytes))
        let count = unsafe Glibc.read(descriptor, &bytes, wanted)
        return unsafe count == wanted && memcmp(&bytes, prefix.utf8Start, wanted) == 0
    }

    /// Reads a file that needs several reads; nil if it cannot be read or is empty.
    static func readAll(_ path: String) -> String? {
        read(path, reads: .max).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func read(_ path: String, reads: Int) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<reads {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes.isEmpty ? nil : bytes
    }
}
