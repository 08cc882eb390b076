import Dispatch
import Glibc
import SecretCrypto
import Synchronization
import TestSupport
import Testing

@Suite struct SecretArenaTests {
    private static let canary = hex("c0ffee00d15ea5e5badc0de5feedface0ddba11decafbad00123456789abcdef")

    @Test("H1: the arena is locked in memory, as the kernel counts it")
    func locked() throws {
        let arena = SecretArena(capacity: 1 << 20)
        #expect(arena.isLocked)
        #expect(SecretArena.shared.isLocked)
        #expect(SecretArena.shared.capacity == 4 << 20)
        // The process's total: other tests have arenas too, which may end concurrently, but these two exist.
        #expect(try lockedKiB() >= 1024 + 4096)
        withExtendedLifetime(arena) {}
    }

    @Test("H1: the arena stays out of core dumps and out of forked children, with guard pages at both ends")
    func mapping() throws {
        let arena = SecretArena(capacity: 12 << 12)
        let canary = Self.canary.map { $0 ^ 0x33 }
        let held = try secret(canary, in: arena)
        let address = held.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let maps = try readAll("/proc/self/smaps").split(separator: "\n")
        let ranges = maps.indices.compactMap { index -> (Int, UInt, UInt)? in
            let bounds = maps[index].prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 ? (index, bounds[0], bounds[1]) : nil
        }
        let position = try #require(ranges.firstIndex { $0.1 <= address && address < $0.2 })
        let flags = try #require(maps[ranges[position].0...].first { $0.hasPrefix("VmFlags:") })
        let set = Set(flags.split(separator: " "))
        #expect(set.isSuperset(of: ["lo", "dd", "wf"]))
        // Used pages are locked, and no other page occupies memory.
        let sizes = try ["Rss:", "Locked:"].map { field in
            try #require(maps[ranges[position].0...].first { $0.hasPrefix(field) }).split(separator: " ")[1]
        }
        #expect(sizes[0] == sizes[1] && (4...16).contains(Int(sizes[0]) ?? 0))
        for neighbour in [position - 1, position + 1] {
            #expect(maps[ranges[neighbour].0].contains("---p"))
        }
        #expect(ranges[position - 1].2 == ranges[position].1 && ranges[position].2 == ranges[position + 1].1)
        #expect(held.count == 32)
    }

    @Test("H1: a slab is wiped when its secret ends, is shortened or moves", arguments: [1, 33, 500, 4096, 9000])
    func wiping(padding: Int) throws {
        let arena = SecretArena(capacity: 1 << 16)
        do {
            var held = try secret([UInt8](repeating: 0, count: padding) + Self.canary, in: arena)
            #expect(arena.contains(Self.canary))
            held.truncate(to: padding + 8)
            #expect(!arena.contains(Array(Self.canary.dropFirst(8))))
            #expect(arena.contains(Array(Self.canary.prefix(8))))
            let part = try held.slice(padding..<padding + 8)
            #expect(plain(part) == Array(Self.canary.prefix(8)))
        }
        #expect(arena.bytesInUse == 0)
        #expect(!arena.contains(Array(Self.canary.prefix(4))))
    }

    @Test("H1: a failed opening leaves no plaintext behind")
    func wipedOnThrow() throws {
        let arena = SecretArena(capacity: 1 << 14)
        let key = try SecretBytes(randomCount: 32)
        let sealed = try AEAD.seal(Self.canary.rawSpan, key: key, associatedData: [1])
        _ = try? AEAD.open(
            sealed.ciphertext.rawSpan, nonceAndTag: sealed.nonceAndTag, key: key, associatedData: [2], in: arena)
        #expect(arena.bytesInUse == 0)
        #expect(!arena.contains(Array(Self.canary.prefix(4))))
    }

    @Test("H1: without a free slab an allocation waits a second, then fails")
    func exhaustion() throws {
        let arena = SecretArena(capacity: 8192)
        let first = try SecretBytes(count: 4096, in: arena)
        let second = try SecretBytes(count: 4000, in: arena)
        #expect(arena.bytesInUse == 8192)
        let clock = ContinuousClock()
        let waited = clock.measure {
            #expect(throws: CryptoError.outOfSecretMemory) { _ = try SecretBytes(count: 1, in: arena) }
        }
        #expect(waited > .milliseconds(950) && waited < .seconds(5))
        #expect(first.count + second.count == 8096)
    }

    @Test("H1: a size that can never fit, or is negative, fails immediately")
    func impossible() {
        let arena = SecretArena(capacity: 8192)
        let waited = ContinuousClock().measure {
            #expect(throws: CryptoError.outOfSecretMemory) { _ = try SecretBytes(count: 8193, in: arena) }
            #expect(throws: CryptoError.outOfSecretMemory) { _ = try SecretBytes(count: .max, in: arena) }
            #expect(throws: CryptoError.invalidParameter) { _ = try SecretBytes(count: -1, in: arena) }
        }
        #expect(waited < .milliseconds(500))
    }

    @Test("H1: a waiting allocation gets the slab that is freed")
    func waiting() throws {
        let arena = SecretArena(capacity: 4096)
        let holding = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let holder = Background {
            if let held = try? SecretBytes(count: 4096, in: arena) {
                holding.signal()
                release.wait()
                withExtendedLifetime(held) {}
            }
        }
        holding.wait()
        // A separate thread: other tests may occupy the global queue for longer than the allocation waits.
        let timer = Background {
            usleep(200_000)
            release.signal()
        }
        let waited = try ContinuousClock().measure {
            let got = try SecretBytes(count: 4096, in: arena)
            #expect(plain(got) == [UInt8](repeating: 0, count: 4096))
        }
        #expect(waited > .milliseconds(100))
        #expect(holder.ends(within: 5) && timer.ends(within: 5))
    }

    @Test func slabsOfAllSizesFillTheArenaAndComeBack() throws {
        let arena = SecretArena(capacity: 1 << 16)
        for count in [1, 32, 33, 64, 100, 256, 512, 1000, 2048, 2049, 4096, 5000, 65536] {
            let slab = [32, 64, 128, 256, 512, 1024, 2048].first { count <= $0 } ?? (count + 4095) & ~4095
            try fill(arena, upTo: (1 << 16) / slab, each: count)
            #expect(arena.bytesInUse == 0)
        }
    }

    @Test("H1: retained chunks of messages do not fragment the space for secrets")
    func shortRunsLieApart() throws {
        let arena = SecretArena(capacity: 1 << 20)
        let long = try SecretBytes(count: 512 << 10, in: arena)
        let piece = try SecretBytes(count: 32 << 10, in: arena)
        #expect(long.count == 512 << 10)
        _ = consume long
        let longer = try SecretBytes(count: 900 << 10, in: arena)
        #expect(longer.count + piece.count <= arena.bytesInUse)
    }

    /// Holds `left` secrets at the same time, by recursion, because arrays cannot contain noncopyable values.
    private func fill(_ arena: SecretArena, upTo left: Int, each count: Int) throws {
        guard left > 0 else {
            #expect(arena.capacity - arena.bytesInUse < max(32, count))
            return
        }
        let held = try SecretBytes(count: count, in: arena)
        try fill(arena, upTo: left - 1, each: count)
        #expect(held.count == count)
    }

    @Test("H1: threads that allocate and free at random never share a slab")
    func stress() {
        let arena = SecretArena(capacity: 1 << 18)
        let failures = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var generator = SeededGenerator(seed: UInt64(thread))
            for _ in 0..<4000 {
                let mark = UInt8.random(in: 1...6, using: &generator)
                let count = [1, 32, 60, 200, 1500, 4096, 20_000].randomElement(using: &generator) ?? 1
                guard let first = try? secret([UInt8](repeating: mark, count: count), in: arena),
                    let second = try? first.copy()
                else {
                    failures.add(1, ordering: .relaxed)
                    continue
                }
                let isIntact = plain(first).allSatisfy { $0 == mark } && first.isEqual(to: second)
                if !isIntact { failures.add(1, ordering: .relaxed) }
            }
        }
        #expect(failures.load(ordering: .relaxed) == 0)
        #expect(arena.bytesInUse == 0)
        #expect((1...6).allSatisfy { !arena.contains([UInt8($0)]) })
    }

    private func lockedKiB() throws -> Int {
        let line = try #require(readAll("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("VmLck:") })
        return try #require(Int(line.split(separator: " ").dropFirst().first ?? ""))
    }

    private func readAll(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let got = fread(&chunk, 1, chunk.count, file), got > 0 { bytes += chunk[..<got] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
