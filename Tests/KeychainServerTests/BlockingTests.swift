import Foundation
import KeychainRPC
import KeychainServer
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// The server's caller is notified before a request takes long; and without free space no item is added.
@Suite struct BlockingTests {
    private let fixture: ServiceFixture

    init() throws { fixture = try ServiceFixture() }

    /// Whether a request says that it takes long.
    private func waits(
        _ operation: ItemRequest.Operation, _ query: [String: PropertyList], groups: [String] = ["default"]
    ) throws -> Bool {
        let query = query.merging(["class": .string("genp")]) { given, _ in given }
        let request = ItemRequest(operation, query: query, accessGroups: groups)
        let hasWaited = Mutex(false)
        let secret = try SecretBytes(count: 0)
        _ = fixture.service.handle(request, secret: secret, by: fixture.me) { hasWaited.withLock { $0 = true } }
        return hasWaited.withLock { $0 }
    }

    @Test("a search for a whole key is a look-up; all others, and every change, take long") func willWait() throws {
        let key: [String: PropertyList] = ["svce": .string("s"), "acct": .string("a")]
        #expect(try !waits(.copyMatching, key))
        #expect(try waits(.copyMatching, ["acct": .string("a")]))
        #expect(try waits(.copyMatching, ["svce": .string("s"), "labl": .string("a")]))
        #expect(try waits(.copyMatching, key, groups: ["*"]))
        #expect(try !waits(.copyMatching, key.merging(["agrp": .string("g")]) { $1 }, groups: ["*"]))
        let server: [String: PropertyList] = ["class": .string("inet"), "srvr": .string("s"), "acct": .string("a")]
        #expect(try waits(.copyMatching, server))
        for operation in [ItemRequest.Operation.add, .update, .delete] { #expect(try waits(operation, key)) }
    }

    @Test("S2: a change waits until the indexes are known, before it searches for its items; a search does not wait")
    func unknownIndexes() throws {
        #expect(try fixture.add("a", [1]) == 0)
        let verification = fixture.keychain.keys.verification
        fixture.keychain.expectVerification()
        for operation in [ItemRequest.Operation.add, .update, .delete] {
            let service = operation == .add ? "t" : "s"
            verification.finishIndexes(.unknown)
            let hasWaited = Mutex(false)
            let ended = Mutex(false)
            Thread.detachNewThread {
                while !verification.hasWaiters, !ended.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) }
                hasWaited.withLock { $0 = !ended.withLock { $0 } }
                verification.finishIndexes(.consistent)
            }
            #expect(try status(fixture.service, operation, ["labl": .string("L")], service: service) == 0)
            ended.withLock { $0 = true }
            #expect(hasWaited.withLock { $0 }, "\(operation)")
            verification.finishIndexes(.unknown)
            #expect(try status(fixture.service, .copyMatching, service: "never") == -25300)
            #expect(!verification.hasWaiters)
        }
    }

    @Test("L1: while the indexes are rebuilt, no item is reported as absent, and other requests are served")
    func rebuiltIndexes() throws {
        #expect(try fixture.add("a", [1]) == 0)
        fixture.keychain.keys.verification.finishIndexes(.rebuilding)
        for operation in [ItemRequest.Operation.copyMatching, .update, .delete] {
            #expect(try status(fixture.service, operation, ["labl": .string("L")], service: "never") == -26275)
        }
        #expect(try status(fixture.service, .copyMatching) == 0)
        #expect(try waits(.copyMatching, ["svce": .string("s"), "acct": .string("a")]))
    }

    @Test("F9: without free space an addition or update is refused before any effect; deletions and searches are not")
    func noSpace()
        throws
    {
        let asked = Mutex<[Int]>([])
        let full = RequestHandler(keychain: fixture.keychain) { count in
            asked.withLock { $0.append(count) }
            return false
        }
        #expect(try fixture.add("a", [1, 2, 3]) == 0)
        #expect(try status(full, .add) == -34)
        #expect(try status(full, .update, ["labl": .string("L")]) == -34)
        #expect(asked.withLock { $0 } == [5, 5])
        #expect(try status(full, .copyMatching) == 0)
        #expect(try status(full, .delete) == 0)
        #expect(asked.withLock { $0 } == [5, 5])
    }

    private func status(
        _ service: RequestHandler, _ operation: ItemRequest.Operation, _ attributes: [String: PropertyList] = [:],
        service name: String = "s"
    ) throws -> Int32 {
        let key: [String: PropertyList] = ["class": .string("genp"), "svce": .string(name), "acct": .string("a")]
        let request = ItemRequest(operation, query: key, attributes: attributes, accessGroups: ["default"])
        let secret = try SecretBytes(count: 5)
        let response = service.handle(request, secret: secret, by: fixture.me)
        return try ReadResponse(response.stream).status
    }
}
