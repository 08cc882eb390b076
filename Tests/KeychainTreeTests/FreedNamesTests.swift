import Testing

@testable import KeychainTree

/// F5's rule of names that are freed and taken again, as a pure value.
@Suite struct FreedNamesTests {
    private let editor = ProcessIdentity(group: 7, startTime: 100)
    private var names = FreedNames<String>(countLimit: 3, weightLimit: 100)
    private let a: [UInt8] = [1]
    private let b: [UInt8] = [2]

    @Test("F5: the process that freed a name takes it again, once")
    mutating func sameProcess() {
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        #expect(names.take(b, by: editor, at: .seconds(6)) == nil)
        #expect(names.take(a, by: editor, at: .seconds(6))?.former == "old")
        #expect(names.take(a, by: editor, at: .seconds(6)) == nil)
    }

    @Test("F5: another process, one with the same number, or one that is not known takes a new name, and it is taken")
    mutating func otherProcess() {
        for other in [nil, ProcessIdentity(group: 8, startTime: 100), ProcessIdentity(group: 7, startTime: 101)] {
            names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(5))
            #expect(names.take(a, by: other, at: .seconds(6)) == nil)
            #expect(names.take(a, by: editor, at: .seconds(6)) == nil)
        }
    }

    @Test("F5: within ten seconds, and not after them")
    mutating func expiry() {
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        names.free(b, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        #expect(names.take(a, by: editor, at: .seconds(15))?.former == "old")
        #expect(names.take(b, by: editor, at: .seconds(15) + .nanoseconds(1)) == nil)
        #expect(names.count == 0)
    }

    @Test(
        "F5: a name that is given back can be taken until the same moment; freed again it stands for what it did last")
    mutating func givenBack() {
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        if let entry = names.take(a, by: editor, at: .seconds(14)) { names.putBack(entry, at: .seconds(14)) }
        #expect(names.take(a, by: editor, at: .seconds(16)) == nil)
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(20))
        names.free(a, by: editor, leaving: "newer", weight: 1, at: .seconds(21))
        #expect(names.count == 1)
        #expect(names.take(a, by: editor, at: .seconds(22))?.former == "newer")
    }

    @Test("F5: what is remembered is bounded, in names and in bytes; the oldest goes first")
    mutating func bounds() {
        for number in UInt8(0)..<10 { names.free([number], by: editor, leaving: "", weight: 1, at: .seconds(5)) }
        #expect(names.count == 3)
        #expect(names.take([6], by: editor, at: .seconds(5)) == nil)
        #expect(names.take([7], by: editor, at: .seconds(5)) != nil)
        names.free([20], by: editor, leaving: "", weight: 99, at: .seconds(5))
        #expect(names.count == 2)
        names.free([21], by: editor, leaving: "", weight: 101, at: .seconds(5))
        #expect(names.count == 0)
    }

    @Test("F5: forgotten names are forgotten")
    mutating func forgotten() {
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        names.free(b, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        names.forget(a)
        #expect(names.take(a, by: editor, at: .seconds(5)) == nil)
        names.removeAll()
        #expect(names.take(b, by: editor, at: .seconds(5)) == nil)
    }
}
