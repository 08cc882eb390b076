import Testing

@testable import Fuse

@Suite struct ProcessMemoryTests {
    @Test(
        "only mappings of files that are executable and not writable count as code",
        arguments: [
            ("7f00-8000 r-xp 00001000 fd:00 12   /usr/lib/libc.so.6", 0x7f00..<0x8000),
            ("7f00-8000 r-xp 00001000 fd:00 12   /a dir/lib with spaces.so (deleted)", 0x7f00..<0x8000),
            ("7f00-8000 r--p 00001000 fd:00 12   /usr/lib/libc.so.6", nil),
            ("7f00-8000 rwxp 00001000 fd:00 12   /usr/lib/libc.so.6", nil),
            ("7f00-8000 r-xs 00001000 fd:00 12   /usr/lib/libc.so.6", nil), ("7f00-8000 r-xp 00000000 00:00 0", nil),
            ("7f00-8000 r-xp 00000000 00:00 0   [vdso]", nil), ("8000-7f00 r-xp 0 0:0 1 /a", nil), ("", nil),
        ] as [(Substring, Range<UInt>?)])
    func lines(_ line: Substring, _ range: Range<UInt>?) {
        #expect(ProcessMemory.range(ofCode: line) == range)
    }

    @Test("trimHeap reduces the resident pages of files, which are loaded again when used")
    func trimsHeap() throws {
        let before = try residentCode()
        #expect(before > 0)
        ProcessMemory.trimHeap()
        let after = try residentCode()
        #expect(after < before)
        #expect(String(reflecting: [1: "a"]).contains("a"))
    }

    /// Kilobytes of mapped files in memory.
    private func residentCode() throws -> Int {
        let status = try #require(ProcFile.readAll("/proc/self/status"))
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }
}
