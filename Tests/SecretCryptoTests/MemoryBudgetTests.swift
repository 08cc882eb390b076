import TestSupport
import Testing

@testable import SecretCrypto

@Suite struct MemoryBudgetTests {
    private let budget = MemoryBudget(limit: 100_000, unlimitedUsers: [0, 1000])
    private var owner: MemoryBudget.Share { budget.share(of: 1000) }

    /// Creates charges of `size` bytes until the user's share is exhausted.
    private func fill(_ user: UInt32, size: Int) -> [MemoryCharge] {
        var charges: [MemoryCharge] = []
        while let charge = try? budget.share(of: user).reserve(size) { charges.append(charge) }
        return charges
    }

    @Test("the mounting user and root get all of it, another user a quarter, all others together three quarters")
    func quarters() throws {
        var held = [fill(7, size: 1000), fill(8, size: 1000), fill(9, size: 1000)]
        #expect(held.map(\.count) == [25, 25, 25])
        #expect(fill(10, size: 1).isEmpty)
        held.append(fill(1000, size: 1000))
        #expect(held[3].count == 25)
        #expect(fill(0, size: 1).isEmpty)
        #expect(budget.used == 100_000)
        held.remove(at: 0)
        #expect(fill(7, size: 25_001).isEmpty)
        #expect(fill(7, size: 25_000).count == 1)
        #expect(fill(0, size: 25_000).count == 1)
        held = []
        #expect(budget.used == 0)
        #expect(fill(0, size: 100_000).count == 1)
    }

    @Test("forced charges count, and from an eighth above the limit no new charge is accepted")
    func forced() throws {
        let forced = owner.force(100_000)
        #expect(throws: CryptoError.overBudget) { try owner.reserve(1) }
        #expect(!owner.isExhausted)
        let more = owner.force(12_500)
        #expect(owner.isExhausted)
        withExtendedLifetime((forced, more)) { #expect(budget.used == 112_500) }
    }

    @Test(
        "F2: a buffer charges the memory of its chunks after any write, truncation, sharing and move",
        arguments: 1...8 as ClosedRange<UInt64>)
    func buffers(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        do {
            var buffer = try emptyBuffer()
            var sizes: [Int: Int] = [:]
            for _ in 0..<200 {
                let offset = Int.random(in: 0...60_000, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    try buffer.truncate(to: offset)
                    sizes = sizes.filter { $0.key * 4096 < offset }
                    if let last = sizes[offset / 4096] { sizes[offset / 4096] = min(last, offset % 4096) }
                case 1: try buffer.move(to: RevocableSecret(try SecretBytes(randomCount: 32)))
                default:
                    let bytes = generator.bytes(Int.random(in: 1...9000, using: &generator))
                    try buffer.write(bytes.rawSpan, at: offset, charging: owner)
                    for place in offset..<offset + bytes.count {
                        sizes[place / 4096] = max(sizes[place / 4096] ?? 0, place % 4096 + 1)
                    }
                }
                #expect(budget.used == sizes.values.reduce(0) { $0 + $1 + SealedBuffer.pieceOverhead })
            }
        }
        #expect(budget.used == 0)
    }

    private func emptyBuffer(limit: Int = 1 << 20) throws -> SealedBuffer {
        SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: limit)
    }

    @Test("a write beyond the budget changes nothing; overwriting, truncating and moving need no free budget")
    func full() throws {
        var buffer = try emptyBuffer()
        let other = budget.share(of: 7)
        let value = [UInt8](repeating: 1, count: 20_000)
        try buffer.write(value.rawSpan, at: 0, charging: other)
        let used = budget.used
        #expect(throws: CryptoError.overBudget) { try buffer.write(value.rawSpan, at: 10_000, charging: other) }
        #expect((buffer.count, budget.used) == (20_000, used))
        let rest = try owner.reserve(budget.limit - used)
        try buffer.write([UInt8](repeating: 2, count: 20_000).rawSpan, at: 0, charging: other)
        try buffer.move(to: RevocableSecret(try SecretBytes(randomCount: 32)))
        try buffer.truncate(to: 19_999)
        withExtendedLifetime(rest) { #expect(budget.used == budget.limit - 1) }
    }

    @Test(
        "buffers that share chunks are charged once while one of them exists; overwriting shared chunks is charged")
    func shared() throws {
        var original: Holder? = Holder(try emptyBuffer())
        var snapshots: [Holder] = []
        do {
            let holder = try #require(original)
            try holder.buffer.write([UInt8](repeating: 1, count: 20_000).rawSpan, at: 0, charging: owner)
            snapshots = (0..<50).map { _ in Holder(holder.buffer.snapshot()) }
        }
        let used = budget.used
        #expect(used == 20_000 + 5 * SealedBuffer.pieceOverhead)
        do {
            let holder = try #require(original)
            let rest = try owner.reserve(budget.limit - used)
            let key = RevocableSecret(try SecretBytes(randomCount: 32))
            #expect(throws: CryptoError.overBudget) { try holder.buffer.write([3].rawSpan, at: 0, charging: owner) }
            #expect(throws: CryptoError.overBudget) { try holder.buffer.truncate(to: 1) }
            #expect(throws: CryptoError.overBudget) { try holder.buffer.move(to: key) }
            withExtendedLifetime(rest) { #expect(budget.used == budget.limit) }
        }
        original = nil
        snapshots.removeFirst(49)
        #expect(budget.used == used)
        snapshots = []
        #expect(budget.used == 0)
    }

    private final class Holder {
        var buffer: SealedBuffer
        init(_ buffer: consuming SealedBuffer) { self.buffer = buffer }
    }
}
