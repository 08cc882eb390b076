import Foundation
import KeychainRPC
import Testing

@testable import Security

@Suite("from a caller's objects to a request")
struct ConversionTests {
    private func value(of object: Any) -> PropertyList {
        var conversion = PropertyListConversion()
        return conversion.value(of: object)
    }

    @Test("each type, of either kind")
    func types() {
        #expect(value(of: "a") == .string("a") && value(of: NSMutableString(string: "a")) == .string("a"))
        #expect(value(of: Data([1])) == .data([1]) && value(of: NSData()) == .data([]))
        #expect(value(of: true) == .boolean(true) && value(of: NSNumber(value: false)) == .boolean(false))
        #expect(value(of: 1) == .integer(1) && value(of: NSNumber(value: Int8(1))) == .integer(1))
        #expect(value(of: Int64.min) == .integer(.min) && value(of: UInt64.max) == .real(Double(UInt64.max)))
        #expect(value(of: 1.5) == .real(1.5) && value(of: CGFloat(2)) == .real(2))
        #expect(value(of: Date(timeIntervalSinceReferenceDate: 3)) == .date(3))
        #expect(value(of: NSNull()) == .null)
        #expect(value(of: String?.some("x") as Any) == .string("x"))
        #expect(value(of: ["a", 1] as [Any]) == .array([.string("a"), .integer(1)]))
        #expect(value(of: ["k": ["n": true]]) == .dictionary(["k": .dictionary(["n": .boolean(true)])]))
        let control = SecAccessControl(protection: "ak", flags: [.userPresence])
        #expect(value(of: control) == .accessControl(protection: "ak", flags: 1))
    }

    @Test("an Optional that is nil in a dictionary")
    func nilInDictionary() throws {
        let nothing: String? = nil
        #expect(try ItemDictionary(["labl": nothing as Any] as CFDictionary).terms == ["labl": .null])
        #expect(try ItemDictionary(["labl": nothing] as [String: String?] as CFDictionary).terms == ["labl": .null])
    }

    @Test("what is of no such type")
    func otherObjects() {
        for object in [NSObject(), UUID(), [1: "a"], Int?.self, self] as [Any] { #expect(value(of: object) == .object) }
    }

    @Test("collections that are too deep or too long end in objects that do not travel")
    func bounds() {
        var deep: [Any] = []
        for _ in 0..<1000 { deep = [deep] }
        var depth = 0
        var found = value(of: deep)
        while case .array(let values) = found, let inner = values.first {
            depth += 1
            found = inner
        }
        #expect(found == .object && depth < 16)
        guard case .array(let values) = value(of: [Int](0..<100_000)) else {
            Issue.record("no array")
            return
        }
        #expect(values.count { $0 != .object } < 5000)
    }

    @Test("the secret is not among the terms")
    func secret() throws {
        let item = try ItemDictionary([kSecValueData: Data([1, 2]), kSecClass: "genp"] as CFDictionary)
        #expect(item.terms == ["v_Data": .secret(0), "class": .string("genp")])
        #expect(item.data == Data([1, 2]))
        let text = try ItemDictionary([kSecValueData: "text"] as CFDictionary)
        #expect(text.terms == ["v_Data": .object] && text.data == nil)
    }

    @Test("a key that is not a string")
    func keys() {
        #expect(throws: ItemDictionary.Failure.self) { try ItemDictionary([1: 2] as CFDictionary) }
        #expect(SecItemDelete([NSNull(): "genp"] as CFDictionary) == errSecParam)
    }
}
