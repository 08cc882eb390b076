import CMemoryProbe
import CSodium
import CWipingMalloc
import Glibc
import SecretCrypto
import Testing

/// The contents of freed memory: by the program's allocator, which the tests are linked with too, and by Argon2id.
@Suite struct WipingTests {
    private static let salt = Array("somesaltsomesalt".utf8)
    private static let cost = Argon2id.Cost(passes: 2, memory: 4 << 20)

    /// Returns the number of nonzero bytes in the mapping that `body` creates and unmaps; nil if it creates none.
    private static func left(by body: () throws -> Void) rethrows -> Int? {
        memory_probe_begin(Int(cost.memory))
        try body()
        var count = 0
        guard let view = memory_probe_end(&count) else { return nil }
        defer { memory_probe_release(view, count) }
        return UnsafeRawBufferPointer(start: view, count: count).count { $0 != 0 }
    }

    /// Maps, fills and unmaps.
    private static func useMapping() {
        let start = mmap(nil, Int(cost.memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else { return }
        memset(start, 0xA5, Int(cost.memory))
        munmap(start, Int(cost.memory))
    }

    @Test("H1: a block that is freed is wiped", arguments: [40, 100, 1000, 5000, 60_000]) func freeing(_ count: Int) {
        #expect(memory_left_by_free(count) == 0)
    }

    @Test(
        "H1: a block that grows or shrinks leaves nothing where it was",
        arguments: [(100, 5000), (5000, 60_000), (1000, 900), (60_000, 40_000), (60_000, 100), (1000, 40)])
    func resizing(_ sizes: (from: Int, to: Int)) {
        #expect(memory_left_by_realloc(sizes.from, sizes.to) == 0)
    }

    @Test("H1: a mapping is wiped before it is unmapped, if its thread requests it") func unmapping() {
        #expect(Self.left { Self.useMapping() } == Int(Self.cost.memory), "nothing is left: this test shows nothing")
        wiping_malloc_set_unmap(1)
        defer { wiping_malloc_set_unmap(0) }
        #expect(Self.left { Self.useMapping() } == 0)
    }

    @Test("H1: the memory of Argon2id is wiped before it is freed") func argon2id() throws {
        let passphrase = try secret(Array("correct horse".utf8))
        // Libsodium alone leaves it as it is.
        let untouched = Self.left {
            var output = [UInt8](repeating: 0, count: 32)
            let result = crypto_pwhash(
                &output, 32, "correct horse", 13, Self.salt, Self.cost.passes, Int(Self.cost.memory),
                crypto_pwhash_ALG_ARGON2ID13)
            #expect(result == 0)
        }
        #expect(try #require(untouched) > Int(Self.cost.memory) / 2, "the watch does not see Argon2id's memory")
        let left = try Self.left {
            _ = try Argon2id.derive(passphrase: passphrase, salt: Self.salt, cost: Self.cost, count: 32).count
        }
        #expect(left == 0)
        // And no other mapping of the thread's afterwards.
        #expect(Self.left { Self.useMapping() } == Int(Self.cost.memory))
    }
}
