import SecretCrypto
import Testing

@Suite struct PaddingTests {
    @Test(
        "S2: multiples of 64 to 1 KiB, then Padmé",
        arguments: [
            (-1, 64), (0, 64), (1, 64), (64, 64), (65, 128), (1000, 1024), (1024, 1024),
            // Padmé, by hand: 1025 has exponent 10, 4 bits of it, so multiples of 2^6; 5000: 2^8; 1048577: 2^15.
            (1025, 1088), (2047, 2048), (2048, 2048), (2049, 2176), (5000, 5120), (100_000, 100_352),
            (1_048_576, 1_048_576), (1_048_577, 1_081_344), (.max, .max),
        ])
    func table(count: Int, padded: Int) {
        #expect(Padding.paddedCount(count) == padded)
    }

    @Test("S2: padding never shrinks, never falls, is stable, and costs at most 12 % beyond 1 KiB")
    func properties() {
        var previous = 0
        for count in 0...300_000 {
            let padded = Padding.paddedCount(count)
            let isPadded = padded >= count && padded >= previous && padded % 64 == 0
            let isStable = Padding.paddedCount(padded) == padded
            let isCheap = count <= 1024 || Double(padded) <= Double(count) * 1.12
            previous = padded
            // One macro for the bad cases only: 300 000 expectations take seconds.
            if !(isPadded && isStable && isCheap) { Issue.record("\(count) is padded to \(padded)") }
        }
    }

    @Test("S2: padding leaves few sizes")
    func fewSizes() {
        let sizes = Set((0...(1 << 20)).map(Padding.paddedCount))
        #expect(sizes.count < 350)
    }
}
