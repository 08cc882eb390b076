import Foundation

@testable import Fuse

/// Looks into this process's own memory.
enum MemoryScan {
    struct NoSuchMapping: Error {}

    /// Calls `body` with each mapping that is locked and wiped on fork, as only receive buffers are here.
    static func lockedMappings<Result>(_ body: (Data) -> Result) throws -> [Result] {
        // Sessions of other tests begin and end meanwhile, and the kernel joins neighbouring mappings.
        for _ in 0..<50 {
            let mappings = try? readLocked()
            if let mappings, !mappings.isEmpty { return mappings.map(body) }
        }
        throw NoSuchMapping()
    }

    private static func readLocked() throws -> [Data] {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        return try lockedRanges().map { range in
            var bytes = [UInt8](repeating: 0, count: Int(range.end - range.start))
            guard pread(memory, &bytes, bytes.count, Int(range.start)) == bytes.count else { throw NoSuchMapping() }
            return Data(bytes)
        }
    }

    /// Whether the address lies in such a mapping.
    static func isLocked(_ address: UnsafeRawPointer) throws -> Bool {
        let address = UInt64(UInt(bitPattern: address))
        return lockedRanges().contains { $0.start <= address && address < $0.end }
    }

    private static func lockedRanges() -> [(start: UInt64, end: UInt64)] {
        // Foundation reads only the first part of such a file.
        let file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        let maps = String(decoding: readAll(file, limit: 1 << 26), as: UTF8.self)
        close(file)
        var ranges: [(start: UInt64, end: UInt64)] = []
        var range: (start: UInt64, end: UInt64)?
        for line in maps.split(separator: "\n") {
            if let found = bounds(line) { range = found }
            guard line.hasPrefix("VmFlags:"), line.contains(" lo "), line.contains(" wf"), let range else { continue }
            ranges.append(range)
        }
        return ranges
    }

    private static func bounds(_ line: Substring) -> (start: UInt64, end: UInt64)? {
        let range = line.prefix { $0 != " " }.split(separator: "-")
        guard range.count == 2, let start = UInt64(range[0], radix: 16), let end = UInt64(range[1], radix: 16) else {
            return nil
        }
        return (start, end)
    }
}
