import Dispatch
import Foundation
import Testing

@testable import LinuxSupport

@Suite struct LentCallTests {
    @Test("another thread calls it once, and its changes are visible")
    func lending() {
        var seen: [Int] = []
        let results = LentCall.withCall { (number: Int) in
            seen.append(number)
            return number + 1
        } to: { call in
            let done = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var results: [Int?] = []
            Thread.detachNewThread {
                results = [call(5), call(6)]
                done.signal()
            }
            done.wait()
            return results
        }
        #expect(seen == [5] && results == [6, nil])
    }

    @Test("a call through a retained copy has no effect afterwards")
    func afterReturn() {
        var count = 0
        let kept = LentCall.withCall { (_: Int) in
            count += 1
        } to: {
            $0
        }
        #expect(kept(1) == nil && count == 0)
    }
}
