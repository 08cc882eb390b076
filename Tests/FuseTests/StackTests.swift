import CFuse3
import Foundation
import Fuse
import Glibc
import SystemPackage
import Testing

/// The data of finished calls on a stack. Each thread runs on memory of the test, which examines it after the thread
/// has exited.
@Suite struct StackTests {
    private static let canary: UInt64 = 0x5EC2_E75A_11AD_0BEF
    /// Protected memory below the stack, which faults on writes.
    private static let below = 512 * 1024

    private struct Match {
        /// The number of canaries on the stack.
        var canaries = 0
        var isBelowUntouched = false
    }

    /// The actions of a thread.
    private struct Steps {
        var depth: Int
        var wipes: Bool
    }

    /// Calls itself `depth` times, with a kilobyte of canaries each time.
    @inline(never) private static func dig(_ depth: Int) -> UInt64 {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 128) { words in
            words.initialize(repeating: Self.canary)
            let deeper = depth > 0 ? dig(depth - 1) : 0
            return deeper &+ words.reduce(0, &+)
        }
    }

    private static func left(stack size: Int, _ steps: Steps) throws -> Match {
        let mappedSize = below + size
        let memory = mmap(nil, mappedSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let start = try #require(memory == MAP_FAILED ? nil : memory)
        defer { munmap(start, mappedSize) }
        memset(start, 0xA5, below)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        #expect(pthread_attr_setstack(&attributes, start + below, size) == 0)
        try withUnsafePointer(to: steps) { steps in
            var thread = pthread_t()
            let result = pthread_create(
                &thread, &attributes,
                { argument in
                    guard let steps = argument?.assumingMemoryBound(to: Steps.self).pointee else { return nil }
                    _ = StackTests.dig(steps.depth)
                    if steps.wipes { ProcessMemory.wipeStack() }
                    return nil
                }, UnsafeMutableRawPointer(mutating: steps))
            try #require(result == 0)
            pthread_join(thread, nil)
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: mappedSize)
        return Match(
            canaries: stride(from: below, to: mappedSize, by: 8).count {
                bytes.load(fromByteOffset: $0, as: UInt64.self) == canary
            },
            isBelowUntouched: bytes[..<below].allSatisfy { $0 == 0xA5 })
    }

    @Test("H2: what calls have left on a stack is overwritten") func wiped() throws {
        let size = 1 << 20
        let left = try Self.left(stack: size, Steps(depth: 40, wipes: false))
        #expect(left.canaries > 500, "nothing is left: this test shows nothing")
        #expect(try Self.left(stack: size, Steps(depth: 40, wipes: true)).canaries == 0)
    }

    @Test("H2, H5: a small stack is wiped as far as it goes, and nothing below it", arguments: [64, 100, 260])
    func small(_ kibibytes: Int) throws {
        let left = try Self.left(stack: kibibytes * 1024, Steps(depth: 8, wipes: true))
        #expect(left.isBelowUntouched)
        if kibibytes > 64 { #expect(left.canaries == 0) }
    }
}
