import KeychainTesting
import SecItemTesting
import TestSupport
import Testing

@testable import Keychain

@Suite("Random dictionaries as queries")
struct HostileQueryTests {
    private static let keys = [
        "class", "acct", "svce", "srvr", "sdmn", "ptcl", "atyp", "port", "path", "agrp", "sync", "pdmn", "accc", "cdat",
        "mdat", "labl", "crtr", "invi", "gena", "UUID", "sha1", "tomb", "tkid", "musr", "clip", "nleg", "atag",
        "v_Data", "v_Ref", "v_PersistentRef", "m_Limit", "m_CaseInsensitive", "m_SubjectContains",
        "m_HostOrSubdomainOfHost",
        "m_ValidOnDate", "r_Data", "r_Attributes", "r_Ref", "r_PersistentRef", "u_AuthUI", "u_AuthCtx", "f_x", "", "é",
        "\u{0}\u{0}\u{0}\u{0}",
    ]
    private static let values: [QueryValue] = [
        .string(""), .string("genp"), .string("inet"), .string("syna"), .string("m_LimitAll"), .string("default"),
        .string("ck"), .string("-9223372036854775808"), .text([0xFF, 0xFE]), .data([]), .data([0xFF]), .number(0),
        .number(1), .number(.max), .number(.min), .real(.nan), .real(.infinity), .real(1e300), .real(-0.5),
        .boolean(true), .boolean(false), .date(KeychainDate(seconds: .min, nanoseconds: -1)),
        .date(KeychainDate(seconds: .max, nanoseconds: 999_999_999)), .date(KeychainDate(seconds: 0)),
        .date(KeychainDate(seconds: .min)), .accessControl(AccessControl(protection: .always, flags: 1)),
        .accessControl(AccessControl(protection: .always, flags: .min)), .list([]), .list([.null]),
        .dictionary(["class": .string("genp")]), .null, .secret, .object,
        .data(Array("genp".utf8) + [UInt8](repeating: 0, count: 16)),
    ]
    private static let known: Set<Int32> = [-4, -50, -34018, -25299, -25300, -25302, -25303, -25306]

    @Test(
        "every call returns a status of reference 3.14 or succeeds, and the keychain stays consistent", arguments: 0..<4
    )
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let fixture = try QueryFixture()
        let engine = fixture.client.engine
        let me = QueryClient(accessGroups: [Array("default".utf8)], userID: 0, groupID: 0)
        var statuses: [Int32: Int] = [:]
        for _ in 0..<2000 {
            let query = Self.dictionary(&generator), other = Self.dictionary(&generator)
            do throws(SecurityStatus) {
                switch UInt8.random(in: 0..<4, using: &generator) {
                case 0: _ = try engine.add(query, by: me)
                case 1: _ = try engine.copyMatching(query, by: me)
                case 2: _ = try engine.update(query, to: other, by: me)
                default: _ = try engine.delete(query, by: me)
                }
                statuses[0, default: 0] += 1
            } catch {
                #expect(Self.known.contains(error.rawValue), "\(error.rawValue)")
                statuses[error.rawValue, default: 0] += 1
            }
        }
        // It is no test if everything is refused.
        #expect(statuses[0, default: 0] > 50, "\(statuses)")
        #expect(try fixture.keychain.check().isConsistent)
    }

    /// Most dictionaries have an item class, so that they have an effect.
    private static func dictionary(_ generator: inout SeededGenerator) -> QueryDictionary {
        var dictionary: QueryDictionary = [:]
        if Bool.random(using: &generator) { dictionary["class"] = .string("genp") }
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            guard let key = keys.randomElement(using: &generator), let value = values.randomElement(using: &generator)
            else { continue }
            dictionary[key] = value
        }
        return dictionary
    }
}
