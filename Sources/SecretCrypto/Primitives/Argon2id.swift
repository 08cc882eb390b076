import CSodium
import Glibc

/// Argon2id, version 1.3, one lane (RFC 9106, `crypto_pwhash`).
package enum Argon2id {
    /// Bytes of a salt.
    package static let saltCount = 16

    /// What one derivation costs.
    package struct Cost: Hashable, Sendable {
        /// Passes over the memory.
        package var passes: UInt64
        /// Bytes, whole KiB.
        package var memory: UInt64

        package init(passes: UInt64, memory: UInt64) {
            self.passes = passes
            self.memory = memory
        }

        /// The floor for new keychains.
        package static let moderate = Cost(passes: 3, memory: 256 << 20)
        /// For secrets that are worth seconds.
        package static let sensitive = Cost(passes: 4, memory: 1 << 30)
        /// The most that is calculated at all: a keychain from elsewhere must not take the machine down.
        package static let maximum = Cost(passes: 10, memory: 2 << 30)

        /// Bytes that are written, the measure of time.
        package var work: Double { Double(passes) * Double(memory) }

        /// Whether `derive` takes it: up to `maximum`, from what libsodium can do (1 pass, 8 KiB). That it is enough
        /// for a new keychain is another question: `meetsFloor`.
        package var isAcceptable: Bool {
            (1...Self.maximum.passes).contains(passes) && (8192...Self.maximum.memory).contains(memory)
                && memory % 1024 == 0
        }

        /// Whether it is at least `moderate` in both.
        package var meetsFloor: Bool { passes >= Self.moderate.passes && memory >= Self.moderate.memory }
    }

    /// A secret of `count` bytes from a passphrase. The working memory is libsodium's own mapping, gone afterwards, and
    /// wiped before that in the program (CWipingMalloc).
    ///
    /// - Throws: `invalidParameter` for a salt that is not 16 bytes, a cost that is not acceptable, a count outside
    ///   16…4096; `outOfMemory` if the system does not give `cost.memory`.
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

    /// `floor` with as many passes as take about `seconds` of this thread's processor time
    /// (`CLOCK_THREAD_CPUTIME_ID`, which a busy machine does not stretch); never fewer than it has, at most ``Cost/maximum``.
    /// Costs one derivation at `floor`; without the memory for that: `floor`.
    package static func calibrated(from floor: Cost, seconds: Double) -> Cost {
        guard floor.isAcceptable, let spent = try? threadSeconds(at: floor), spent > 0 else { return floor }
        let affordable = min(seconds / spent * Double(floor.passes), Double(Cost.maximum.passes))
        guard affordable > Double(floor.passes) else { return floor }
        return Cost(passes: UInt64(affordable), memory: floor.memory)
    }

    /// About how long a derivation takes here, of this thread's processor time; nil without the memory to measure it. Takes about
    /// 30 ms: the time is proportional to ``Cost/work``.
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
