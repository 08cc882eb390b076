import SecretCrypto
import TestSupport
import Testing

@Suite struct SealedBufferTests {
    private let limit = 40_000

    private func contents(_ buffer: borrowing SealedBuffer) throws -> [UInt8] {
        var held = try SecretBytes(count: buffer.count)
        var span = held.mutableBytes
        #expect(try buffer.read(at: 0, into: &span) == buffer.count)
        return plain(held)
    }

    @Test(
        "F2: agrees with an array under random writes, truncations and reads", arguments: 1...12 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var buffer = SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: limit)
        var model: [UInt8] = []
        for _ in 0..<150 {
            let offset = Int.random(in: 0...limit, using: &generator)
            let edge = offset / 4096 * 4096
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                let start = [offset, edge, model.count].randomElement(using: &generator) ?? 0
                let count = [0, 1, 100, 4096, 9000].randomElement(using: &generator) ?? 0
                let bytes = generator.bytes(min(count, limit - start))
                try buffer.write(bytes.rawSpan, at: start)
                guard !bytes.isEmpty else { continue }
                model += [UInt8](repeating: 0, count: max(0, start + bytes.count - model.count))
                model.replaceSubrange(start..<start + bytes.count, with: bytes)
            case 2:
                let count = [offset, edge, model.count / 2].randomElement(using: &generator) ?? 0
                try buffer.truncate(to: count)
                model = Array(model.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - model.count))
            default:
                try compare(buffer, with: model, at: offset, count: Int.random(in: 0...10_000, using: &generator))
            }
            #expect(buffer.count == model.count)
        }
        #expect(try contents(buffer) == model)
    }

    private func compare(
        _ buffer: borrowing SealedBuffer, with model: [UInt8], at offset: Int, count: Int
    ) throws {
        var output = [UInt8](repeating: 0xEE, count: count)
        var elements = output.mutableSpan
        var span = MutableRawSpan(_elements: &elements)
        let got = try buffer.read(at: offset, into: &span)
        let expected = Array(model.dropFirst(offset).prefix(count))
        #expect(got == expected.count)
        #expect(output == expected + [UInt8](repeating: 0xEE, count: count - expected.count))
    }

    @Test("a suffix keeps its contents, regardless of later writes to the buffer")
    func suffix() throws {
        let key = RevocableSecret(try SecretBytes(randomCount: 32))
        var buffer = SealedBuffer(key: key, limit: limit)
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try buffer.write(bytes.rawSpan, at: 0)
        let suffix = try buffer.suffix(from: 5000)
        try buffer.write([1, 2, 3].rawSpan, at: 5000)
        try buffer.truncate(to: 10)
        var held = try SecretBytes(count: 6000)
        var span = held.mutableBytes
        #expect(try suffix.read(at: 0, into: &span) == 5000 && suffix.count == 5000)
        #expect(plain(held).prefix(5000) == bytes[5000...])
        var end = held.mutableBytes
        #expect(try suffix.read(at: 5000, into: &end) == 0)
        #expect(throws: CryptoError.invalidParameter) { _ = try buffer.suffix(from: 11).count }
        key.revoke()
        #expect(throws: CryptoError.keyUnavailable) {
            var output = held.mutableBytes
            _ = try suffix.read(at: 0, into: &output)
        }
    }

    @Test("F2: truncated data does not reappear when the value grows again")
    func regrowth() throws {
        var buffer = SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: limit)
        let bytes = [UInt8](repeating: 1, count: 10_000)
        try buffer.write(bytes.rawSpan, at: 0)
        try buffer.truncate(to: 5000)
        try buffer.truncate(to: 10_000)
        #expect(try contents(buffer) == [UInt8](repeating: 1, count: 5000) + [UInt8](repeating: 0, count: 5000))
        try buffer.truncate(to: 4096)
        try buffer.truncate(to: 4097)
        #expect(try contents(buffer) == [UInt8](repeating: 1, count: 4096) + [0])
    }

    @Test("F9: nothing is written beyond the limit")
    func limits() throws {
        var buffer = SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: 100)
        let bytes = [UInt8](repeating: 3, count: 60)
        try buffer.write(bytes.rawSpan, at: 40)
        for offset in [41, 100, 101, -1, Int.max, Int.min] {
            let refusal = failure { try buffer.write(bytes.rawSpan, at: offset) }
            #expect(refusal == .invalidParameter)
        }
        let long = failure { try buffer.truncate(to: 101) }
        let negative = failure { try buffer.truncate(to: -1) }
        #expect(long == .invalidParameter && negative == .invalidParameter)
        #expect(buffer.count == 100)
        var none = try SecretBytes(count: 5)
        var span = none.mutableBytes
        let atEnd = try buffer.read(at: 100, into: &span)
        let beyond = try buffer.read(at: .max, into: &span)
        #expect(atEnd == 0 && beyond == 0)
    }

    @Test("L2: after a lock neither values nor holes are read or written")
    func revocation() throws {
        let key = RevocableSecret(try SecretBytes(randomCount: 32))
        var buffer = SealedBuffer(key: key, limit: limit)
        let bytes = [UInt8](repeating: 1, count: 50)
        try buffer.write(bytes.rawSpan, at: 8192)
        key.revoke()
        var output = try SecretBytes(copying: bytes.rawSpan)
        for offset in [0, 8192, 8200] {
            let refusal = failure {
                var span = output.mutableBytes
                _ = try buffer.read(at: offset, into: &span)
            }
            #expect(refusal == .keyUnavailable)
        }
        for offset in [0, 8192, 8200] {
            let refusal = failure { try buffer.write(bytes.rawSpan, at: offset) }
            #expect(refusal == .keyUnavailable)
        }
        let cut = failure { try buffer.truncate(to: 8200) }
        #expect(cut == .keyUnavailable)
        #expect(buffer.count == 8242)
    }

    @Test("H1: between calls no plaintext is in the arena, and a write needs one slab of 4 KiB")
    func arena() throws {
        let arena = SecretArena(capacity: 8192)
        let canary = hex("0badcafe8badf00dc001d00ddefec8ed")
        let key = RevocableSecret(try SecretBytes(randomCount: 32, in: arena))
        var buffer = SealedBuffer(key: key, limit: limit, in: arena)
        for offset in stride(from: 0, to: 20_000, by: 1000) { try buffer.write(canary.rawSpan, at: offset) }
        let long = [UInt8](repeating: 5, count: 15_000)
        try buffer.write(long.rawSpan, at: 3000)
        try buffer.truncate(to: 17_001)
        #expect(arena.bytesInUse == 32)
        #expect(!arena.contains(Array(canary.prefix(4))))
        let head = Array(try contents(buffer).prefix(16))
        #expect(head == canary)
    }

    @Test("F1: a write that fails without memory does not change the old value")
    func atomicity() throws {
        let arena = SecretArena(capacity: 4096)
        var buffer = SealedBuffer(key: RevocableSecret(try SecretBytes(randomCount: 32)), limit: limit, in: arena)
        let old = [UInt8](repeating: 1, count: 9000)
        try buffer.write(old.rawSpan, at: 0)
        do {
            let filler = try SecretBytes(count: 4096, in: arena)
            let new = [UInt8](repeating: 2, count: 9000)
            // Two whole pieces need no slab, the rest of the third does.
            let refusal = failure { try buffer.write(new.rawSpan.extracting(0..<8500), at: 0) }
            let cut = failure { try buffer.truncate(to: 10) }
            #expect(refusal == .outOfSecretMemory && cut == .outOfSecretMemory)
            #expect(filler.count == 4096)
        }
        #expect(try contents(buffer) == old)
    }
}
