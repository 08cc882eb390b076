import Foundation
import KeychainConnection
import KeychainRPC
import SecretCrypto
import Synchronization
import Testing

/// A client's connection to a real mount: the failures that it survives, and that it never waits forever (contract, L4
/// and section 9).
@Suite(.serialized) struct ConnectionTests {
    /// In milliseconds.
    private static let timeout = 1_500

    /// A mounted keychain, and a connection to it.
    private final class Fixture: Sendable {
        let mount: ScannedMount
        let connection: MountConnection

        init() throws {
            mount = try ScannedMount(Account.isRoot ? .root : .user, passphrase: "correct")
            try mount.run("create", "--kdf", "test")
            try mount.run("mount", mount.mountPoint)
            let path = mount.mountPoint
            connection = MountConnection(timeout: ConnectionTests.timeout) { path }
        }

        deinit {
            _ = try? mount.run("unmount", mount.mountPoint)
            mount.remove()
        }

        func signal(_ signal: Int32) throws { kill(pid_t(try mount.daemon()), signal) }

        func add(_ account: String, _ secret: [UInt8] = Array("s3cret".utf8)) throws -> Int32 {
            let query: [String: PropertyList] = [
                "class": .string("genp"), "svce": .string("s"), "acct": .string(account), "v_Data": .secret(0),
            ]
            let request = ItemRequest(.add, query: query, accessGroups: ["default"])
            return connection.perform(request, secret: secret.rawSpan) { _ in }
        }

        func find(_ account: String) throws -> (status: Int32, secret: [UInt8]?) {
            let query: [String: PropertyList] = [
                "class": .string("genp"), "svce": .string("s"), "acct": .string(account), "r_Data": .boolean(true),
            ]
            var found: [UInt8]?
            let request = ItemRequest(.copyMatching, query: query, accessGroups: ["default"])
            let status = connection.perform(request, secret: RawSpan()) { frame in
                if let secret = frame.secret(0) { found = [UInt8](copying: secret) }
            }
            return (status, found)
        }

        var file: String { mount.mountPoint + "/generic-passwords/s/" }
    }

    /// Fails if `body` takes longer.
    private func within(seconds: Double, _ body: () throws -> Int32) rethrows -> Int32 {
        let start = ContinuousClock.now
        let status = try body()
        #expect(ContinuousClock.now - start < .seconds(seconds))
        return status
    }

    @Test("F10: an item added through the connection is a file immediately, and vice versa, up to the longest value")
    func bothWays() throws {
        let fixture = try Fixture()
        #expect(try fixture.add("a") == 0)
        #expect(try fixture.add("a") == -25299)
        #expect(try String(contentsOfFile: fixture.file + "a", encoding: .utf8) == "s3cret")
        try fixture.mount.shell("printf shell > '\(fixture.file)b'")
        #expect(try fixture.find("b").secret == Array("shell".utf8))
        let long = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try fixture.add("long", long) == 0)
        #expect(try fixture.find("long").secret == long)
        #expect(try fixture.add("longer", long + [0]) == ConnectionStatus.dataTooLarge)
        #expect(try fixture.find("none").status == -25300)
    }

    @Test("Locked: errSecInteractionNotAllowed without a delay; available again after an unlock")
    func locked() throws {
        let fixture = try Fixture()
        #expect(try fixture.add("a") == 0)
        try fixture.mount.run("lock", fixture.mount.mountPoint)
        #expect(try fixture.find("a").status == ConnectionStatus.interactionNotAllowed)
        #expect(try fixture.add("b") == ConnectionStatus.interactionNotAllowed)
        try fixture.mount.run("unlock", fixture.mount.mountPoint)
        #expect(try fixture.find("a").status == 0)
    }

    @Test("A connection does not prevent unmounting; calls fail without a mount; the next mount is found")
    func remount() throws {
        let fixture = try Fixture()
        #expect(try fixture.add("a") == 0)
        try fixture.mount.run("unmount", fixture.mount.mountPoint)
        #expect(try within(seconds: 1) { try fixture.find("a").status } == ConnectionStatus.notAvailable)
        #expect(try fixture.add("b") == ConnectionStatus.notAvailable)
        try fixture.mount.run("mount", fixture.mount.mountPoint)
        #expect(try fixture.find("a").secret == Array("s3cret".utf8))
        #expect(try fixture.add("b") == 0)
    }

    @Test("After a kill of the daemon calls fail without a delay, and use the next daemon")
    func killed() throws {
        let fixture = try Fixture()
        for round in 0..<3 {
            #expect(try fixture.add("a\(round)") == 0)
            // The thread's descriptor is still open.
            try fixture.signal(SIGKILL)
            #expect(try within(seconds: 1.4) { try fixture.find("a0").status } == ConnectionStatus.notAvailable)
            try fixture.mount.run("mount", fixture.mount.mountPoint)
            #expect(try fixture.find("a\(round)").status == 0)
        }
    }

    @Test("L4: a stopped daemon blocks a caller for at most two timeouts, and the following caller not at all")
    func stopped() throws {
        let fixture = try Fixture()
        #expect(try fixture.add("a") == 0)
        for isConnected in [true, false] {
            if !isConnected { usleep(600_000) }
            let daemon = pid_t(try fixture.mount.daemon())
            #expect(try fixture.find("a").status == 0)
            if !isConnected { usleep(600_000) }
            kill(daemon, SIGSTOP)
            defer { kill(daemon, SIGCONT) }
            waitUntilStopped(daemon)
            let account = "never\(isConnected)"
            #expect(try within(seconds: 6) { try fixture.add(account) } == ConnectionStatus.notAvailable)
            #expect(try within(seconds: 1) { try fixture.find("a").status } == ConnectionStatus.notAvailable)
            kill(daemon, SIGCONT)
            let deadline = ContinuousClock.now + .seconds(20)
            while try fixture.find("a").status != 0, ContinuousClock.now < deadline { usleep(20_000) }
            #expect(try fixture.find("a").secret == Array("s3cret".utf8))
            // A request that was abandoned before the daemon had received it completely is never executed.
            #expect(try fixture.find(account).status == -25300)
        }
    }

    @Test("F10: a new mount responds while the daemon of the replaced mount is still stopped")
    func replaced() throws {
        let fixture = try Fixture()
        let other = fixture.mount.mountPoint + ".keychain"
        try fixture.mount.run("create", "--kdf", "test", "--keychain", other)
        #expect(try fixture.add("a") == 0)
        let daemon = pid_t(try fixture.mount.daemon())
        kill(daemon, SIGSTOP)
        defer { kill(daemon, SIGKILL) }
        waitUntilStopped(daemon)
        // One call waits in the old mount; another one comes when the connection knows that the daemon does not
        // respond.
        let waiting = Mutex<Int32?>(nil)
        let caller = Thread {
            let status = try? fixture.find("a").status
            waiting.withLock { $0 = status }
        }
        caller.start()
        #expect(try within(seconds: 10) { try fixture.find("a").status } == ConnectionStatus.notAvailable)
        try fixture.mount.shell("fusermount3 -uz '\(fixture.mount.mountPoint)'")
        try fixture.mount.run("mount", "--keychain", other, fixture.mount.mountPoint)
        #expect(try within(seconds: 10) { try fixture.add("b") } == 0)
        #expect(try fixture.find("b").secret == Array("s3cret".utf8))
        #expect(try fixture.find("a").status == -25300)
        let deadline = ContinuousClock.now + .seconds(30)
        while waiting.withLock({ $0 }) == nil, ContinuousClock.now < deadline { usleep(20_000) }
        #expect(waiting.withLock { $0 } == ConnectionStatus.notAvailable)
        try fixture.mount.run("unmount", fixture.mount.mountPoint)
    }

    /// Waits until all threads have stopped. kill(2) returns earlier, and a thread may be about to reply.
    private func waitUntilStopped(_ process: pid_t) {
        let tasks = "/proc/\(process)/task"
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
            let states = threads.map { thread in
                let line = try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8)
                return line?.split(separator: ")").last?.split(separator: " ").first
            }
            if !states.isEmpty, states.allSatisfy({ $0 == "T" }) { return }
            usleep(1_000)
        }
        Issue.record("the daemon was not stopped")
    }

    @Test("A long response arrives complete and in order when it is read slowly")
    func slowReader() throws {
        let fixture = try Fixture()
        try fixture.mount.shell(
            "mkdir '\(fixture.file)'; cd '\(fixture.file)'; for n in {1..1500}; do printf $n > $n; done")
        let query: [String: PropertyList] = [
            "class": .string("genp"), "svce": .string("s"), "r_Data": .boolean(true), "r_Attributes": .boolean(true),
            "m_Limit": .string("m_LimitAll"),
        ]
        var frames = 0
        var secrets: [String] = []
        let request = ItemRequest(.copyMatching, query: query, accessGroups: ["default"])
        let status = fixture.connection.perform(request, secret: RawSpan()) { frame in
            frames += 1
            if frames < 3 { usleep(700_000) }
            for index in 0..<frame.secretCount {
                guard let secret = frame.secret(index) else { continue }
                secrets.append(String(decoding: [UInt8](copying: secret), as: UTF8.self))
            }
        }
        #expect(status == 0)
        #expect(frames > 2)
        #expect(secrets == (1...1500).map(String.init))
    }

    @Test("Concurrent threads each get their own response, over few descriptors")
    func threads() throws {
        let fixture = try Fixture()
        for number in 0..<8 { #expect(try fixture.add("a\(number)", Array("secret \(number)".utf8)) == 0) }
        let wrong = Mutex(0)
        let maximum = Mutex(0)
        let path = fixture.mount.mountPoint + "/.keychainfs/rpc"
        let connection = fixture.connection
        DispatchQueue.concurrentPerform(iterations: 40) { thread in
            for round in 0..<25 {
                let number = (thread + round) % 8
                let query: [String: PropertyList] = [
                    "class": .string("genp"), "acct": .string("a\(number)"), "svce": .string("s"),
                    "r_Data": .boolean(true),
                ]
                var found: [UInt8]?
                let request = ItemRequest(.copyMatching, query: query, accessGroups: ["default"])
                let status = connection.perform(request, secret: RawSpan()) { frame in
                    if let secret = frame.secret(0) { found = [UInt8](copying: secret) }
                }
                if status != 0 || found != Array("secret \(number)".utf8) { wrong.withLock { $0 += 1 } }
            }
            let open = Self.descriptors(of: path)
            maximum.withLock { $0 = max($0, open) }
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect((1...16).contains(maximum.withLock { $0 }))
        usleep(800_000)
        #expect(Self.descriptors(of: path) == 0)
    }

    @Test("Many threads with large values, more than fit in locked memory at a time: each is served in its turn")
    func largeValues() throws {
        let fixture = try Fixture()
        let failures = Mutex<[Int32]>([])
        DispatchQueue.concurrentPerform(iterations: 12) { thread in
            let secret = [UInt8](repeating: UInt8(thread + 1), count: 1_000_000)
            for _ in 0..<2 {
                let added = (try? fixture.add("a\(thread)", secret)) ?? 1
                let found = try? fixture.find("a\(thread)")
                let isRight = found?.secret == secret
                failures.withLock { failures in
                    if added != 0, added != -25299 { failures.append(added) }
                    if !isRight { failures.append(found?.status ?? 1) }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test("A value over the limit is reported as too long, at any length")
    func tooLarge() throws {
        let fixture = try Fixture()
        for count in [(1 << 20) + 1, 2 << 20, 5 << 20] {
            #expect(try fixture.add("large", [UInt8](repeating: 1, count: count)) == -25302)
        }
        #expect(try fixture.find("large").status == -25300)
    }

    private static func descriptors(of path: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) == path
        }
    }
}
