import Foundation
import Glibc

/// Words on a thread's stack that a finished call has left there, and where.
enum StackResidue {
    private static let mark: UInt64 = 0x0B5E_55ED_C0FF_EE11

    /// Fills frames some way down the stack, and returns where; the addresses are for ``count(at:)`` alone.
    @inline(never) static func leave(depth: Int = 12) -> [UInt] {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 64) { words in
            words.initialize(repeating: mark)
            let own = words.baseAddress.map { UInt(bitPattern: $0) } ?? 0
            let deeper = depth > 0 ? leave(depth: depth - 1) : []
            // What lies deepest is the last that other calls overwrite.
            return words.contains(mark) ? deeper + [own] : deeper
        }
    }

    /// How many of them are still there. By /proc/self/mem: they are of frames that are gone.
    static func count(at addresses: [UInt]) -> Int {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        return addresses.count { address in
            var word: UInt64 = 0
            return pread(memory, &word, 8, Int(address)) == 8 && word == mark
        }
    }
}
