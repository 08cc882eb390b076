import CFuse3
import Glibc
import Testing

@testable import Fuse

/// Bounded waits of the threads of a session.
@Suite struct MonitorTests {
    private static func monotonicSeconds() -> Int {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec
    }

    @Test("L4: timed waits use CLOCK_MONOTONIC")
    func deadlineIsMonotonic() {
        let before = Self.monotonicSeconds()
        let deadline = Monitor<Void>.deadline(milliseconds: 5_000)
        let after = Self.monotonicSeconds()
        #expect((before + 5...after + 6).contains(deadline.tv_sec))
        #expect((0..<1_000_000_000).contains(deadline.tv_nsec))
    }

    @Test("L4: the condition uses the clock of the deadline: a wait is neither cut short nor stretched")
    func conditionUsesTheClock() {
        // A condition on the wall clock would find a monotonic deadline long past.
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(Monitor(0).wait(milliseconds: 200) { _ in nil as Int? } == nil)
        }
        #expect(time >= .milliseconds(200) && time < .seconds(10))
    }
}
