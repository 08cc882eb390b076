import Testing

@testable import Fuse

/// The decisions of AdaptivePolling to poll or to block.
@Suite struct AdaptivePollingTests {
    private let begun: UInt64 = 5_000_000_000

    @Test func takesAsLongAsItMay() throws {
        let poll = try #require(AdaptivePolling(duration: 50_000).begin(at: begun))
        #expect(poll.deadline == begun + 50_000)
        #expect(AdaptivePolling(duration: 0).begin(at: begun) == nil)
    }

    @Test func half() {
        var history = AdaptivePolling(duration: 1)
        for round in 0..<1000 {
            history.end(hasCaught: round % 2 == 0, at: begun)
            #expect(history.begin(at: begun) != nil)
        }
    }

    @Test func fewerThanHalfOfSixteenMakeAPauseOfASecond() {
        var history = AdaptivePolling(duration: 1)
        for _ in 0..<8 { history.end(hasCaught: false, at: begun) }
        #expect(history.begin(at: begun) != nil)
        history.end(hasCaught: false, at: begun)
        #expect(history.begin(at: begun) == nil)
        #expect(history.begin(at: begun + AdaptivePolling.pause - 1) == nil)
        #expect(history.begin(at: begun + AdaptivePolling.pause) != nil)
    }

    @Test func pollsAgainAfterPause() {
        var history = AdaptivePolling(duration: 1)
        for _ in 0..<9 { history.end(hasCaught: false, at: begun) }
        let later = begun + AdaptivePolling.pause
        for _ in 0..<8 { history.end(hasCaught: false, at: later) }
        #expect(history.begin(at: later) != nil)
        history.end(hasCaught: false, at: later)
        #expect(history.begin(at: later) == nil)
    }
}
