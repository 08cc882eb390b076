import Testing

@testable import KeychainTree

/// F9: when the free space must be queried again, tested as a value without a disk.
@Suite struct FreeSpaceEstimateTests {
    private let freeSpace = FreeSpaceEstimate()
    private let gibibyte: UInt64 = 1 << 30

    @Test("F9: if the disk has far more space than values need, it is not queried again for a short time")
    func ample() {
        #expect(!freeSpace.isAmple(at: .seconds(5)))
        freeSpace.note(2 * gibibyte, longest: 1 << 20, at: .seconds(5))
        #expect(freeSpace.isAmple(at: .seconds(5)) && freeSpace.isAmple(at: .seconds(5) + .milliseconds(99)))
        #expect(!freeSpace.isAmple(at: .seconds(5) + .milliseconds(100)))
    }

    @Test("F9: a disk with less space is queried each time, and a full disk is detected immediately")
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
