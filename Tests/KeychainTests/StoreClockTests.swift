import KeychainTesting
import Testing

@testable import Keychain

@Suite("S2: the age of a store")
struct StoreClockTests {
    private let start = ContinuousClock.now
    private static let day: Int64 = 86_400

    private func header(_ storeTime: Int64, wallClock: Int64) -> StoreHeader {
        var header = StoreHeader()
        (header.storeTime, header.wallClock) = (storeTime, wallClock)
        return header
    }

    @Test(
        "the time before opening counts by the wall clock, never negative and at most 7 days",
        arguments: [
            (1_000_000, 1_000_000 + 3600, 3600), (1_000_000, 1_000_000, 0), (1_000_000, 0, 0),
            (1_000_000, 1_000_000 + 30 * day, 7 * day), (-5, 5, 10), (.min, .max, 7 * day), (.max, .min, 0),
            (0, 1_800_000_000, 0),
        ] as [(Int64, Int64, Int64)])
    func beforeOpening(_ last: Int64, _ now: Int64, _ passed: Int64) {
        var clock = StoreClock()
        clock.wallClock = { KeychainDate(seconds: now) }
        var header = header(50, wallClock: last)
        clock.advance(&header, now: start)
        #expect(header.storeTime == 50 + passed && header.wallClock == now)
    }

    @Test("while the store is open, a wall clock that jumps changes nothing, and no part of a second is lost")
    func whileOpen() {
        var clock = StoreClock()
        clock.wallClock = { KeychainDate(seconds: 1_000_000) }
        var header = header(0, wallClock: 1_000_000)
        clock.advance(&header, now: start)
        #expect(header.storeTime == 0)
        for number in 1...10 {
            let jump = Int64.random(in: .min...Int64.max)
            clock.wallClock = { KeychainDate(seconds: jump) }
            clock.advance(&header, now: start + .milliseconds(600 * number))
        }
        #expect(header.storeTime == 6)
        clock.advance(&header, now: start)
        #expect(header.storeTime == 6)
    }

    @Test("without a wall clock both times stay, and the highest age does not overflow")
    func limits() {
        var none = StoreClock()
        var header = header(7, wallClock: 8)
        none.advance(&header, now: start)
        #expect(header.storeTime == 7 && header.wallClock == 8)
        var clock = StoreClock()
        clock.wallClock = { KeychainDate(seconds: 100) }
        header.storeTime = .max - 1
        clock.advance(&header, now: start)
        #expect(header.storeTime == .max - 1)
    }

    @Test("a transaction of a keychain records its clock")
    func transaction() throws {
        let fixture = try DigestFixture()
        try fixture.add("a")
        #expect(try fixture.header.wallClock == KeychainDate.sample.seconds)
        #expect(try fixture.header.storeTime < 60)
    }
}
