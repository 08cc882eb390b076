import CSodium
import Glibc

/// Argon2id, version 1.3, one lane (RFC 9106, `crypto_pwhash`).
package enum Argon2id {
    /// The size of a salt in bytes.
    package static let saltCount = 16

    /// The cost of one derivation.
    package struct Cost: Hashable, Sendable {
        /// The number of passes over the memory.
        package var passes: UInt64
        /// The memory in bytes, a multiple of 1 KiB.
        package var memory: UInt64

        package init(passes: UInt64, memory: UInt64) {
            self.passes = passes
            self.memory = memory
        }

        /// The minimum for new keychains.
        package static let moderate = Cost(passes: 3, memory: 256 << 20)
        /// For secrets that justify a wait of seconds.
        package static let sensitive = Cost(passes: 4, memory: 1 << 30)
        /// The maximum that is ever calculated: a keychain from another source must not exhaust the machine.
        package static let maximum = Cost(passes: 10, memory: 2 << 30)

        /// The number of bytes written, to which the time is proportional.
        package var work: Double { Double(passes) * Double(memory) }

        /// Whether `derive` accepts the cost: from libsodium's minimum (1 pass, 8 KiB) up to `maximum`. `meetsFloor`
        /// indicates whether it suffices for a new keychain.
        package var isAcceptable: Bool {
            (1...Self.maximum.passes).contains(passes) && (8192...Self.maximum.memory).contains(memory)
                && memory % 1024 == 0
        }

        /// Whether both values are at least those of `moderate`.
        package var meetsFloor: Bool { passes >= Self.moderate.passes && memory >= Self.moderate.memory }
    }

    /// Derives a secret of `count` bytes from a passphrase.
    ///
    /// libsodium maps and unmaps the working memory itself. In the program, CWipingMalloc wipes it before.
    ///
    /// - Throws: `invalidParameter` for a salt that is not 16 bytes, a cost that is not acceptable, or a count outside
    ///   16…4096; `outOfMemory` if the system does not provide `cost.memory`.
    package static func derive(
        passphrase: borrowing SecretBytes, salt: [UInt8], cost: Cost, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard salt.count == saltCount, cost.isAcceptable, (16...4096).contains(count) else { throw .invalidParameter }
        var output = try SecretBytes(count: count, in: passphrase.home)
        csodium_wipe_unmapped(1)
        defer { csodium_wipe_unmapped(0) }
        let result = unsafe passphrase.withPointer { bytes in
            unsafe output.withMutablePointer { output in
                unsafe crypto_pwhash(
                    output, UInt64(count), UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self),
                    UInt64(passphrase.count), salt, cost.passes, Int(cost.memory), crypto_pwhash_ALG_ARGON2ID13)
            }
        }
        Sodium.wipeStack()
        guard result == 0 else { throw .outOfMemory }
        return output
    }

    /// Returns `floor` with the number of passes that take about `seconds`, at least that of `floor` and at most that
    /// of ``Cost/maximum``.
    ///
    /// Measures this thread's processor time (`CLOCK_THREAD_CPUTIME_ID`), which other processes do not extend.
    /// Calculates one derivation at the cost of `floor`; returns `floor` if its memory is not available.
    package static func calibrated(from floor: Cost, seconds: Double) -> Cost {
        guard floor.isAcceptable, let spent = try? threadSeconds(at: floor), spent > 0 else { return floor }
        let affordable = min(seconds / spent * Double(floor.passes), Double(Cost.maximum.passes))
        guard affordable > Double(floor.passes) else { return floor }
        return Cost(passes: UInt64(affordable), memory: floor.memory)
    }

    /// Estimates the processor time of one derivation on this machine in seconds, from a measurement of about 30 ms.
    /// The time is proportional to ``Cost/work``.
    ///
    /// - Returns: The time, or nil if the memory for the measurement is not available.
    package static func estimatedSeconds(for cost: Cost) -> Double? {
        let sample = Cost(passes: 1, memory: 64 << 20)
        guard let spent = try? threadSeconds(at: sample), spent > 0 else { return nil }
        return spent * cost.work / sample.work
    }

    private static func threadSeconds(at cost: Cost) throws(CryptoError) -> Double {
        let passphrase = try SecretBytes(count: 16)
        let salt = [UInt8](repeating: 0, count: saltCount)
        let start = threadClock()
        _ = try derive(passphrase: passphrase, salt: salt, cost: cost, count: 32)
        return threadClock() - start
    }

    private static func threadClock() -> Double {
        var now = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
