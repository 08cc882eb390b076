import Testing

@testable import KeychainTree

/// F9: when the disk need not be asked for its room once more, as a pure value.
@Suite struct FreeSpaceEstimateTests {
    private let freeSpace = FreeSpaceEstimate()
    private let gibibyte: UInt64 = 1 << 30

    @Test("F9: a disk with far more room than values need is not asked again for a moment")
    func ample() {
        #expect(!freeSpace.isAmple(at: .seconds(5)))
        freeSpace.note(2 * gibibyte, longest: 1 << 20, at: .seconds(5))
        #expect(freeSpace.isAmple(at: .seconds(5)) && freeSpace.isAmple(at: .seconds(5) + .milliseconds(99)))
        #expect(!freeSpace.isAmple(at: .seconds(5) + .milliseconds(100)))
    }

    @Test("F9: one with less is asked each time, and one that has become full is known at once")
    func scarce() {
        freeSpace.note(gibibyte, longest: 1 << 20, at: .seconds(5))
        #expect(!freeSpace.isAmple(at: .seconds(5)))
        // Sixteen of the longest values do not fit.
        freeSpace.note(4 * gibibyte, longest: 1 << 28, at: .seconds(5))
        #expect(!freeSpace.isAmple(at: .seconds(5)))
        freeSpace.note(4 * gibibyte, longest: 1 << 20, at: .seconds(5))
        freeSpace.note(0, longest: 1 << 20, at: .seconds(5))
        #expect(!freeSpace.isAmple(at: .seconds(5)))
    }
}
