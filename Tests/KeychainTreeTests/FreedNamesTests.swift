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

    @Test(
        "F5: another process, even one with the same process ID, or an unknown one creates a new item, and uses up the name"
    )
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
        "F5: a released name can be taken until its original deadline; freed again it refers to its last item")
    mutating func givenBack() {
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(5))
        if let entry = names.take(a, by: editor, at: .seconds(14)) { names.putBack(entry, at: .seconds(14)) }
        #expect(names.take(a, by: editor, at: .seconds(16)) == nil)
        names.free(a, by: editor, leaving: "old", weight: 1, at: .seconds(20))
        names.free(a, by: editor, leaving: "newer", weight: 1, at: .seconds(21))
        #expect(names.count == 1)
        #expect(names.take(a, by: editor, at: .seconds(22))?.former == "newer")
    }

    @Test("F5: the number of names and bytes is bounded; the oldest name is dropped first")
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
