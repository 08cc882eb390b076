import Foundation
import Keychain
import KeychainRPC
import KeychainServer
import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

/// Requests with unusual keys and values, with their bytes changed at random. Each gets a readable response with a
/// status, and the keychain stays consistent. `KEYCHAINFS_FUZZ_CASES` sets the number of cases (2,000).
@Suite("Hostile requests")
struct HostileRequestTests {
    private static let cases =
        ProcessInfo.processInfo.environment["KEYCHAINFS_FUZZ_CASES"].flatMap { Int($0) } ?? TestLane.rounds(2_000)
    private static let keys = [
        "class", "acct", "svce", "srvr", "ptcl", "port", "agrp", "sync", "pdmn", "accc", "cdat", "labl", "crtr", "invi",
        "gena", "tomb", "v_Data", "v_Ref", "v_PersistentRef", "m_Limit", "m_CaseInsensitive", "m_SubjectContains",
        "m_ValidOnDate", "r_Data", "r_Attributes", "r_PersistentRef", "u_AuthUI", "f_x", "", "é", "\u{0}",
    ]
    private static let values: [PropertyList] = [
        .string(""), .string("genp"), .string("inet"), .string("syna"), .string("m_LimitAll"), .string("g"),
        .string("ck"),
        .data([]), .data([0xFF]), .data(Array("genp".utf8) + [UInt8](repeating: 0, count: 16)), .integer(0),
        .integer(1),
        .integer(.max), .integer(.min), .real(.nan), .real(.infinity), .real(1e300), .real(-0.5), .boolean(true),
        .boolean(false), .date(0), .date(.nan), .date(-.infinity), .date(1e300), .date(9.2e18), .null, .object,
        .secret(0),
        .secret(1), .secret(.max), .array([.null]), .accessControl(protection: "ak", flags: .min),
        .accessControl(protection: "", flags: 0), .dictionary(["class": .string("genp")]),
        .dictionary(["$accessControl": .dictionary(["pdmn": .string("ak")])]),
    ]
    /// The statuses of reference 3.14; none of them is a failure of the daemon.
    private static let known: Set<Int32> = [
        0, -4, -50, -34018, -25299, -25300, -25302, -25303, -25306, -25308,
    ]

    private let fixture: ServiceFixture
    private let key: RevocableSecret

    init() throws {
        fixture = try ServiceFixture()
        key = RevocableSecret(try SecretBytes(randomCount: 32))
    }

    @Test("section 9: dictionaries at random", arguments: 0..<4)
    func dictionaries(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var statuses: [Int32: Int] = [:]
        for _ in 0..<Self.cases {
            let frame = try Self.frame(&generator)
            let status = try status(of: frame)
            #expect(Self.known.contains(status), "\(status)")
            statuses[status, default: 0] += 1
        }
        // It is no test if everything is refused.
        #expect(statuses[0, default: 0] > Self.cases / 50 && statuses.count > 4, "\(statuses)")
        #expect(try fixture.keychain.check().isConsistent)
    }

    @Test("section 9: frames changed at random, and random bytes", arguments: 10..<14)
    func frames(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var refused = 0
        for round in 0..<Self.cases {
            var frame = try Self.frame(&generator)
            if round % 10 == 0 {
                frame = (0..<Int.random(in: 0..<200, using: &generator)).map { _ in generator.next() }.map {
                    UInt8(truncatingIfNeeded: $0)
                }
            }
            Mutation.apply(to: &frame, &generator)
            let status = try status(of: frame)
            #expect(Self.known.contains(status), "\(status)")
            if status == -50 { refused += 1 }
        }
        #expect((Self.cases / 10..<Self.cases).contains(refused), "\(refused)")
        #expect(try fixture.keychain.check().isConsistent)
    }

    private func status(of frame: [UInt8]) throws -> Int32 {
        var kept = SealedBuffer(key: key, limit: max(1, frame.count))
        try kept.write(frame.rawSpan, at: 0)
        return try ReadResponse(fixture.service.handle(frame: kept, by: fixture.me).stream).status
    }

    /// Most requests have an item class, so that they have an effect.
    private static func frame(_ generator: inout SeededGenerator) throws -> [UInt8] {
        let operation = ItemRequest.Operation.allCases.randomElement(using: &generator) ?? .add
        let request = ItemRequest(
            operation, query: dictionary(&generator), attributes: dictionary(&generator),
            accessGroups: Bool.random(using: &generator) ? ["g"] : ["*", "g", "g"])
        let secret = [UInt8](repeating: 3, count: Int.random(in: 0..<5, using: &generator))
        return try RequestFrame.head(of: request, secretCount: secret.count) + secret
    }

    private static func dictionary(_ generator: inout SeededGenerator) -> [String: PropertyList] {
        var dictionary: [String: PropertyList] = [:]
        if Int.random(in: 0..<4, using: &generator) > 0 { dictionary["class"] = .string("genp") }
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            guard let key = keys.randomElement(using: &generator), let value = values.randomElement(using: &generator)
            else { continue }
            dictionary[key] = value
        }
        return dictionary
    }
}
