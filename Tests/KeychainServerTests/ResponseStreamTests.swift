import Keychain
import KeychainRPC
import KeychainServer
import KeychainTesting
import SecretCrypto
import Testing

@Suite("Answers, section 9")
struct ResponseStreamTests {
    private let fixture: ServiceFixture
    private let all = ItemRequest(
        .copyMatching,
        query: ["class": .string("genp"), "m_Limit": .string("m_LimitAll"), "r_Data": .boolean(true)],
        accessGroups: ["default"])

    init() throws { fixture = try ServiceFixture() }

    private func with(_ more: [String: PropertyList]) -> ItemRequest {
        var request = all
        request.query.merge(more) { $1 }
        return request
    }

    @Test("one item is one frame, in one piece")
    func one() throws {
        #expect(try fixture.add("a", [1, 2, 3]) == 0)
        var stream = try fixture.stream(with(["m_Limit": .string("m_LimitOne"), "r_Attributes": .boolean(true)]))
        #expect(!stream.hasEnded)
        let count = try #require(try stream.nextCount())
        #expect(stream.hasEnded && count < 1000)
        #expect(try stream.nextCount() == nil)
        let response = try ReadResponse(fixture.stream(with(["m_Limit": .string("m_LimitOne")])))
        #expect(response.status == 0 && !response.isList && response.frames.count == 1)
        #expect(response.entries == [.secret(0)] && response.frames.first?.secrets == [[1, 2, 3]])
    }

    @Test("section 9: many items are many frames, each of bounded size, and every secret with its item")
    func many() throws {
        for index in 0..<1200 {
            #expect(try fixture.add("\(index)", Array("\(index)".utf8)) == 0)
        }
        let response = try ReadResponse(fixture.stream(with(["r_Attributes": .boolean(true)])))
        #expect(response.status == 0 && response.isList && response.frames.count > 2)
        #expect(response.pieces.allSatisfy { $0 <= 64 << 10 })
        var accounts: [PropertyList] = []
        for frame in response.frames {
            for entry in frame.entries {
                guard case .dictionary(let values) = entry, case .secret(let index)? = values["v_Data"],
                    case .string(let account)? = values["acct"]
                else {
                    Issue.record("no dictionary with account and secret")
                    continue
                }
                #expect(frame.secrets[index] == Array(account.utf8))
                accounts.append(.string(account))
            }
        }
        #expect(accounts == (0..<1200).map { .string("\($0)") })
    }

    @Test(
        "L4: a search with few matches sends frames without entries, so that each read examines a bounded number of items"
    )
    func little() throws {
        for index in 0..<25 {
            #expect(try fixture.add("\(index)", [UInt8(index)], index == 17 ? ["labl": .string("wanted")] : [:]) == 0)
        }
        let service = RequestHandler(keychain: fixture.keychain, rowsPerFrame: 4)
        func handle(_ more: [String: PropertyList]) throws -> ReadResponse {
            try ReadResponse(service.handle(with(more), secret: SecretBytes(count: 0), by: fixture.me).stream)
        }
        let one = try handle(["labl": .string("wanted")])
        #expect(one.status == 0 && one.isList && one.frames.flatMap(\.secrets) == [[17]])
        #expect(one.frames.count == 7 && one.frames.filter(\.entries.isEmpty).count == 6)
        #expect(try handle(["labl": .string("nothing")]).status == SecurityStatus.itemNotFound.rawValue)
        #expect(try handle([:]).frames.flatMap(\.secrets) == (0..<25).map { [UInt8($0)] })
        let limited = try handle(["m_Limit": .integer(2)])
        #expect(limited.status == 0 && limited.entries.count == 2)
    }

    @Test("a long secret comes in pieces of 64 KiB, opened as they are read")
    func long() throws {
        let secret = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        #expect(try fixture.add("a", secret) == 0)
        #expect(try fixture.add("b", [1]) == 0)
        let response = try ReadResponse(fixture.stream(all))
        #expect(response.status == 0 && response.frames.flatMap(\.secrets) == [secret, [1]])
        #expect(response.pieces.count >= 17 && response.pieces.allSatisfy { $0 <= 64 << 10 })
    }

    @Test("F9: a secret beyond the limit is refused by the engine, even if the frame allows it")
    func limit() throws {
        #expect(
            try fixture.add("a", [UInt8](repeating: 0, count: (1 << 20) + 1)) == SecurityStatus.dataTooLarge.rawValue)
    }

    @Test("4: after a lock before the first byte, a frame reports it; in the middle of a secret, the read fails once")
    func locked() throws {
        #expect(try fixture.add("a", [UInt8](repeating: 5, count: 200_000)) == 0)
        var begun = try fixture.stream(all)
        var found = try fixture.stream(all)
        #expect(try begun.nextCount() != nil)
        fixture.keychain.lock()
        #expect(throws: SecurityStatus.interactionNotAllowed) { while try begun.nextCount() != nil {} }
        #expect(try begun.nextCount() == nil && begun.hasEnded)
        #expect(try ReadResponse(found).status == SecurityStatus.interactionNotAllowed.rawValue)
        #expect(try found.nextCount() != nil)
        #expect(try ReadResponse(fixture.stream(all)).status == SecurityStatus.interactionNotAllowed.rawValue)
    }

    @Test("S4: a frame reports a damaged secret if no frame has begun; otherwise the read fails")
    func damaged() throws {
        #expect(try fixture.add("a", [UInt8](repeating: 5, count: 200_000)) == 0)
        try fixture.damageSecret(at: 150_000)
        var stream = try fixture.stream(all)
        #expect(try stream.nextCount() != nil)
        #expect(throws: SecurityStatus.decode) { while try stream.nextCount() != nil {} }
        #expect(try stream.nextCount() == nil && stream.hasEnded)
        #expect(
            try fixture.handle(
                ItemRequest(.delete, query: all.query.filter { $0.key == "class" }, accessGroups: ["default"])
            ).changes.count == 1)
        #expect(try fixture.add("b", [5]) == 0)
        try fixture.damageSecret(at: 0)
        #expect(try ReadResponse(fixture.stream(all)).status == SecurityStatus.decode.rawValue)
    }

    @Test("L2: items that stay available after a lock are still returned")
    func available() throws {
        #expect(try fixture.add("a", [9], ["pdmn": .string("ck")]) == 0)
        let stream = try fixture.stream(all)
        fixture.keychain.lock()
        let response = try ReadResponse(stream)
        #expect(response.status == 0 && response.frames.first?.secrets == [[9]])
    }

    @Test("H1: without locked memory the read fails, and continues when there is some")
    func memory() throws {
        let secret = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try fixture.add("a", secret) == 0)
        var stream = try fixture.stream(all)
        let full = SecretArena(capacity: 4096)
        let held = try SecretBytes(count: 4096, in: full)
        var bytes: [UInt8] = []
        for _ in 0..<3 {
            #expect(throws: SecurityStatus.allocate) { _ = try stream.nextCount(in: full) }
            bytes += try #require(try stream.nextBytes())
        }
        while let piece = try stream.nextBytes() { bytes += piece }
        let containsSecret = bytes.rawSpan.contains(secret)
        #expect(containsSecret)
        #expect(held.count == full.bytesInUse)
    }

    @Test("a response with only a status is one frame")
    func status() throws {
        var stream = ResponseStream(failure: .interactionNotAllowed)
        #expect(try ReadResponse(stream).status == -25308)
        #expect(!stream.hasEnded)
        #expect(try stream.nextCount() != nil && stream.hasEnded)
        #expect(try ReadResponse(ResponseStream(failure: nil)).status == 0)
    }

    @Test("nothing found, nothing asked for, a list of one")
    func shapes() throws {
        #expect(try ReadResponse(fixture.stream(all)).status == SecurityStatus.itemNotFound.rawValue)
        #expect(try fixture.add("a", []) == 0)
        let nothing = try ReadResponse(fixture.stream(with(["r_Data": .boolean(false)])))
        #expect(nothing.status == 0 && nothing.entries.isEmpty)
        let list = try ReadResponse(fixture.stream(all))
        #expect(list.isList && list.entries == [.secret(0)] && list.frames.first?.secrets == [[]])
    }

    @Test("F10: the changes of a request are returned with its response, after the commit")
    func changes() throws {
        let item: [String: PropertyList] = ["class": .string("genp"), "acct": .string("a"), "v_Data": .secret(0)]
        let added = try fixture.handle(ItemRequest(.add, query: item, accessGroups: ["default"]), secret: [1])
        #expect(added.changes.count == 1 && added.changes.first?.old == nil)
        #expect(try ReadResponse(fixture.stream(all)).status == 0)
        let query: [String: PropertyList] = ["class": .string("genp")]
        let update = ItemRequest(
            .update, query: query, attributes: ["acct": .string("b"), "v_Data": .secret(0)], accessGroups: ["default"])
        let updated = try fixture.handle(update, secret: [2])
        #expect(
            updated.changes.first?.old?.account == .string("a") && updated.changes.first?.new?.account == .string("b"))
        #expect(try ReadResponse(fixture.stream(all)).frames.first?.secrets == [[2]])
        let deleted = try fixture.handle(ItemRequest(.delete, query: query, accessGroups: ["default"]))
        #expect(deleted.changes.first?.new == nil)
        #expect(try fixture.handle(ItemRequest(.delete, query: query, accessGroups: ["default"])).changes.isEmpty)
    }
}

@Suite("Invalid requests")
struct WrongRequestTests {
    private let fixture: ServiceFixture

    init() throws { fixture = try ServiceFixture() }

    private func status(_ list: [UInt8]) throws -> Int32 {
        let response = fixture.service.handle(list: list, secret: try SecretBytes(count: 0), by: fixture.me)
        #expect(response.changes.isEmpty)
        return try ReadResponse(response.stream).status
    }

    @Test("section 9: bytes that are not a request result in errSecParam")
    func malformed() throws {
        #expect(try status([]) == -50)
        #expect(try status(Array("bplist00".utf8)) == -50)
        #expect(try status(PropertyList.dictionary([:]).binary()) == -50)
    }

    @Test("a caller without access groups: errSecMissingEntitlement")
    func groups() throws {
        for operation in ItemRequest.Operation.allCases {
            let request = ItemRequest(operation, query: ["class": .string("genp")], accessGroups: [])
            #expect(try ReadResponse(fixture.stream(request)).status == -34018)
        }
    }

    @Test("a wrong reference to the secret, an invalid date or an invalid class results in errSecParam")
    func values() throws {
        let key: [String: PropertyList] = ["class": .string("genp"), "acct": .string("a")]
        let wrong: [String: PropertyList] = [
            "v_Data": .secret(1), "cdat": .date(.nan), "mdat": .date(.infinity), "labl": .secret(0),
            "accc": .accessControl(protection: "zz", flags: 0), "acct": .null, "svce": .object,
        ]
        for (name, value) in wrong {
            let request = ItemRequest(.add, query: key.merging([name: value]) { $1 }, accessGroups: ["g"])
            #expect(try ReadResponse(fixture.stream(request)).status == -50, "\(name)")
        }
    }

    @Test("dates are seconds since 2001, UTC")
    func epoch() throws {
        #expect(try fixture.add("a", []) == 0)
        let query: [String: PropertyList] = ["class": .string("genp"), "r_Attributes": .boolean(true)]
        let response = try ReadResponse(
            fixture.stream(ItemRequest(.copyMatching, query: query, accessGroups: ["default"])))
        guard case .dictionary(let values)? = response.entries.first else {
            Issue.record("not found: \(response.status)")
            return
        }
        // The fixture's time is 1,700,000,000 seconds since 1970.
        #expect(values["cdat"] == .date(721_692_800))
    }

    @Test("dates keep their microseconds", arguments: [0.0, 1.5, -0.25, 1e9 + 0.123_456, -978_307_200.75])
    func dates(_ seconds: Double) throws {
        let query: [String: PropertyList] = ["class": .string("genp"), "acct": .string("a")]
        #expect(try ReadResponse(fixture.stream(ItemRequest(.add, query: query, accessGroups: ["g"]))).status == 0)
        let update = ItemRequest(.update, query: query, attributes: ["cdat": .date(seconds)], accessGroups: ["g"])
        #expect(try ReadResponse(fixture.stream(update)).status == 0)
        let find = query.merging(["cdat": .date(seconds), "r_Attributes": .boolean(true)]) { $1 }
        let response = try ReadResponse(fixture.stream(ItemRequest(.copyMatching, query: find, accessGroups: ["g"])))
        guard case .dictionary(let values)? = response.entries.first, case .date(let found)? = values["cdat"] else {
            Issue.record("not found: \(response.status)")
            return
        }
        #expect(abs(found - seconds) < 1e-6)
    }
}

@Suite("Requests that are kept sealed")
struct SealedRequestTests {
    private let fixture: ServiceFixture
    private let key: RevocableSecret

    init() throws {
        fixture = try ServiceFixture()
        key = RevocableSecret(try SecretBytes(randomCount: 32))
    }

    private func handle(
        _ frame: [UInt8], between: () -> Void = {}
    ) throws -> HandledRequest {
        var kept = SealedBuffer(key: key, limit: frame.count)
        try kept.write(frame.rawSpan, at: 0)
        between()
        return try fixture.service.handle(frame: kept, by: fixture.me)
    }

    private func frame(_ secret: [UInt8]) throws -> [UInt8] {
        let item: [String: PropertyList] = ["class": .string("genp"), "acct": .string("a"), "v_Data": .secret(0)]
        let request = ItemRequest(.add, query: item, accessGroups: ["default"])
        return try RequestFrame.head(of: request, secretCount: secret.count) + secret
    }

    @Test("section 9: the stored secret is the bytes after the list", arguments: [0, 1, 5000, 1 << 20])
    func add(count: Int) throws {
        let secret = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
        let added = try handle(frame(secret))
        #expect(try ReadResponse(added.stream).status == 0 && added.changes.count == 1)
        let query: [String: PropertyList] = ["class": .string("genp"), "r_Data": .boolean(true)]
        let found = try fixture.stream(ItemRequest(.copyMatching, query: query, accessGroups: ["default"]))
        #expect(try ReadResponse(found).frames.first?.secrets == [secret])
    }

    @Test("a frame that is not as long as it says, or none at all: errSecParam")
    func lengths() throws {
        let complete = try frame([1, 2, 3])
        let others: [[UInt8]] = [
            [], [0x4B], Array(complete.prefix(15)), complete.dropLast(), complete + [0], [0x4C] + complete.dropFirst(),
        ]
        for wrong in others {
            let served = try handle(wrong)
            #expect(try ReadResponse(served.stream).status == -50 && served.changes.isEmpty)
        }
    }

    @Test("H1: a request whose key was revoked is not carried out")
    func revoked() throws {
        let complete = try frame([1])
        #expect(throws: KeychainFault.interactionNotAllowed) {
            _ = try handle(complete, between: { key.revoke() })
        }
        #expect(fixture.store.records.itemRecords.isEmpty)
    }
}
