import Foundation

@testable import Fuse

/// Searches this process's memory.
enum MemoryScan {
    struct NoSuchMapping: Error {}

    /// Calls `body` with each mapping that is locked and wiped on fork, as only receive buffers are here.
    static func lockedMappings<Result>(_ body: (Data) -> Result) throws -> [Result] {
        // Sessions of other tests begin and end concurrently, and the kernel merges adjacent mappings.
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

    /// The flags of the mapping at an address, as proc_pid_smaps(5) abbreviates them.
    static func flags(at address: UnsafeRawPointer) -> [String] {
        let address = UInt64(UInt(bitPattern: address))
        return mappings().first { $0.start <= address && address < $0.end }?.flags ?? []
    }

    private static func lockedRanges() -> [(start: UInt64, end: UInt64)] {
        mappings().filter { $0.flags.contains("lo") && $0.flags.contains("wf") }.map { ($0.start, $0.end) }
    }

    private static func mappings() -> [(start: UInt64, end: UInt64, flags: [String])] {
        // Foundation reads only the first part of such a file.
        let file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        let maps = String(decoding: readAll(file, limit: 1 << 26), as: UTF8.self)
        close(file)
        var found: [(start: UInt64, end: UInt64, flags: [String])] = []
        var range: (start: UInt64, end: UInt64)?
        for line in maps.split(separator: "\n") {
            if let bounds = bounds(line) { range = bounds }
            guard line.hasPrefix("VmFlags:"), let range else { continue }
            found.append((range.start, range.end, line.split(separator: " ").dropFirst().map(String.init)))
        }
        return found
    }

    private static func bounds(_ line: Substring) -> (start: UInt64, end: UInt64)? {
        let range = line.prefix { $0 != " " }.split(separator: "-")
        guard range.count == 2, let start = UInt64(range[0], radix: 16), let end = UInt64(range[1], radix: 16) else {
            return nil
        }
        return (start, end)
    }
}
