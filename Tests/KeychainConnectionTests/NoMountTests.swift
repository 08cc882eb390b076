import Foundation
import KeychainRPC
import SecretCrypto
import SystemPackage
import Testing

@testable import KeychainConnection

/// The results of a connection without a mounted keychain.
@Suite struct NoMountTests {
    private static let requests: [ItemRequest] = ItemRequest.Operation.allCases.map { operation in
        ItemRequest(
            operation, query: ["class": .string("genp"), "v_Data": .secret(0)], attributes: ["v_Data": .secret(0)],
            accessGroups: ["default"])
    }

    private func answer(at path: String, to request: ItemRequest) throws -> Int32 {
        let secret = Array("canary-of-no-mount".utf8)
        return MountConnection { path }.perform(request, secret: secret.rawSpan) { _ in
            Issue.record("an answer from nobody")
        }
    }

    @Test("Without a mount, calls return errSecNotAvailable immediately", arguments: requests)
    func nothing(request: ItemRequest) throws {
        let start = ContinuousClock.now
        #expect(try answer(at: "/nonexistent/keychain", to: request) == ConnectionStatus.notAvailable)
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test("A directory that only looks like a mount gets no byte", arguments: requests)
    func ordinaryDirectory(request: ItemRequest) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("no-mount-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appendingPathComponent(".keychainfs")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("rpc")
        try Data().write(to: file)
        #expect(try answer(at: root.path, to: request) == ConnectionStatus.notAvailable)
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test("Too deep to be sent: errSecParam")
    func tooDeep() throws {
        var value = PropertyList.array([])
        for _ in 0..<40 { value = .array([value]) }
        let request = ItemRequest(.copyMatching, query: ["class": value], accessGroups: ["default"])
        #expect(try answer(at: "/nonexistent/keychain", to: request) == ConnectionStatus.param)
    }

    @Test("F9: a daemon without memory for the request: errSecAllocate, not 'not available'; nothing was done")
    func noMemory() {
        for isChange in [true, false] {
            #expect(RPCChannel.Failure.notAsked(.noSpace).status(isChange: isChange) == ConnectionStatus.allocate)
        }
        #expect(RPCChannel.Failure.lost(.noSpace).status(isChange: true) == ConnectionStatus.io)
    }

    @Test("An idle channel ends, and a new one is created when needed")
    func idleLanes() throws {
        let lanes = ProcessLanes(mountPoint: { "/nonexistent/keychain" })
        for _ in 0..<3 {
            var call = RPCCall(lanes)
            #expect(throws: RPCChannel.Failure.notAsked(.noSuchFileOrDirectory)) {
                _ = try call.ask([UInt8](repeating: 1, count: 70_000).rawSpan, secret: [UInt8]().rawSpan).count
            }
        }
        #expect(lanes.current === lanes)
        let deadline = ContinuousClock.now + .seconds(10)
        while lanes.pool.count > 0, ContinuousClock.now < deadline { usleep(10_000) }
        #expect(lanes.pool.count == 0)
    }

    @Test("The probe of a daemon that does not exist returns immediately with an error")
    func liveness() {
        let liveness = DaemonProbe(mountPoint: { "/nonexistent/keychain" }, timeout: 5_000)
        #expect(liveness.daemonResponds())
        #expect(!liveness.isSilent)
    }
}
