import Testing

@testable import KeychainTree

/// F9: when the disk need not be asked for its room once more, as a pure value.
@Suite struct FreeSpaceEstimateTests {
    private let room = DiskRoom()
    private let gibibyte: UInt64 = 1 << 30

    @Test("F9: a disk with far more room than values need is not asked again for a moment")
    func ample() {
        #expect(!room.isAmple(at: .seconds(5)))
        room.note(2 * gibibyte, longest: 1 << 20, at: .seconds(5))
        #expect(room.isAmple(at: .seconds(5)) && room.isAmple(at: .seconds(5) + .milliseconds(99)))
        #expect(!room.isAmple(at: .seconds(5) + .milliseconds(100)))
    }

    @Test("F9: one with less is asked each time, and one that has become full is known at once")
    func scarce() {
        room.note(gibibyte, longest: 1 << 20, at: .seconds(5))
        #expect(!room.isAmple(at: .seconds(5)))
        // Sixteen of the longest values do not fit.
        room.note(4 * gibibyte, longest: 1 << 28, at: .seconds(5))
        #expect(!room.isAmple(at: .seconds(5)))
        room.note(4 * gibibyte, longest: 1 << 20, at: .seconds(5))
        room.note(0, longest: 1 << 20, at: .seconds(5))
        #expect(!room.isAmple(at: .seconds(5)))
    }
}
