import Foundation
import Keychain
import Synchronization
import Testing

@testable import KeychainMount

@Suite("a running rekey is shown")
struct RekeyStatusTests {
    private func status(
        _ phase: RekeyProgress.Phase, done: Int = 0, total: Int = 0, left: Int = 0
    ) -> StatusReport.RekeyStatus {
        var progress = RekeyProgress()
        (progress.phase, progress.done, progress.total, progress.left) = (phase, done, total, left)
        return StatusReport.RekeyStatus(progress)
    }

    @Test("L5: status reports each phase, and nothing without a rekey")
    func phases() {
        #expect(status(.idle).lines.isEmpty && !status(.idle).isUnderWay)
        #expect(status(.running, done: 3, total: 9).lines == ["rekey:       3 of 9 items"])
        #expect(status(.running, total: 1).lines == ["rekey:       0 of 1 item"])
        let waiting = status(.waiting(.interactionNotAllowed), done: 3, total: 9)
        #expect(waiting.reason == "unlock" && waiting.isUnderWay)
        #expect(waiting.lines == ["rekey:       waiting (unlock), 3 of 9 items"])
        #expect(status(.waiting(.diskFull)).reason == "disk-full")
        #expect(status(.waiting(.readOnly)).reason == "read-only")
        #expect(status(.waiting(.io(5))).reason == "error")
        let verifying = status(.verifying)
        #expect(verifying.reason == "verification" && verifying.isUnderWay && verifying.isRunning)
        let stopped = status(.waiting(.rowsDiffer), done: 3, total: 9)
        #expect(stopped.reason == "rows-differ" && !stopped.isUnderWay && !stopped.isRunning)
        #expect(stopped.lines.first?.hasPrefix("rekey:       stopped, 3 of 9 items: rows differ") == true)
        #expect(status(.running).isRunning && !waiting.isRunning)
        let other = status(.onOtherDevice)
        #expect(other.state == "waiting" && other.reason == "other-device" && !other.isUnderWay)
        #expect(other.lines.count == 1)
        #expect(status(.finished, done: 9, total: 9).lines.isEmpty)
        #expect(status(.finished, done: 8, total: 9, left: 1).lines.count == 1)
    }

    @Test("L5: the bar fills from nothing to all, and does not trap on odd numbers")
    func bar() {
        let none = String(repeating: ".", count: 30)
        #expect(RekeyProgressBar.bar(status(.running, total: 7)) == "[\(none)]   0 %  0 of 7 items")
        let half = RekeyProgressBar.bar(status(.running, done: 5, total: 10))
        #expect(half.hasPrefix("[###############...............]  50 %"))
        let all = String(repeating: "#", count: 30)
        #expect(RekeyProgressBar.bar(status(.running, done: 10, total: 10)) == "[\(all)] 100 %  10 of 10 items")
        #expect(RekeyProgressBar.bar(status(.running)).hasPrefix("[\(all)] 100 %"))
        #expect(RekeyProgressBar.bar(status(.running, done: 12, total: 10)).hasPrefix("[\(all)] 100 %"))
    }

    @Test("L5: a terminal gets one line over and over, a file a line every ten seconds")
    func display() {
        let drawn = Mutex<[String]>([])
        let draw: @Sendable (String) -> Void = { text in drawn.withLock { $0.append(text) } }
        let start = Date(timeIntervalSince1970: 0)
        var file = RekeyProgressBar(isTerminal: false, draw: draw)
        for second in 0...20 { file.show(status(.running, total: 5), now: start.addingTimeInterval(Double(second))) }
        file.end()
        #expect(drawn.withLock { $0 } == Array(repeating: "keychainfs: rekey: 0 of 5 items\n", count: 3))
        drawn.withLock { $0 = [] }
        var terminal = RekeyProgressBar(isTerminal: true, draw: draw)
        terminal.show(status(.running, total: 5))
        terminal.end()
        #expect(drawn.withLock { $0.first?.hasPrefix("\r[") == true && $0.last == "\n" })
    }
}
