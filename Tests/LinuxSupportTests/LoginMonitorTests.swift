import Foundation
import LinuxSupport
import Synchronization
import Testing

/// A bus of a test's own with a mocked logind: Tests/MountTests/Cases/login.py.
private final class TestBus: Sendable {
    let directory = "/var/tmp/keychainfs-bus-\(UUID().uuidString.prefix(8))"
    var address: String { "unix:path=\(directory)/socket" }

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    deinit {
        _ = try? run("stop")
        try? FileManager.default.removeItem(atPath: directory)
    }

    @discardableResult
    func run(_ command: String, _ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-I", Self.script, command, directory] + arguments
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "login.py \(command)")
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../MountTests/Cases/login.py").standardizedFileURL.path
}

/// The events that a monitor has reported, in order.
private final class EventLog: Sendable {
    enum Entry: Hashable { case event(LoginEvent), connection(LoginConnection), ended }
    let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }

    var connections: Int { entries.withLock { $0.filter { $0 == .connection(.connected) }.count } }
    var undelayed: Int {
        entries.withLock { $0.filter { if case .connection(.withoutDelay) = $0 { true } else { false } }.count }
    }
    var failures: Int {
        entries.withLock { $0.filter { if case .connection(.unreachable) = $0 { true } else { false } }.count }
    }
    func count(_ event: LoginEvent) -> Int { entries.withLock { $0.filter { $0 == .event(event) }.count } }

    /// Returns false if the condition is not met within 30 s.
    func wait(_ condition: () -> Bool) -> Bool {
        let deadline = WakeupTimer.now + .seconds(30)
        while !condition() {
            guard WakeupTimer.now < deadline else { return false }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return true
    }
}

/// L4: logind on a real D-Bus daemon.
@Suite(.serialized) struct LoginMonitorTests {
    private let bus: TestBus
    private let journal = EventLog()

    init() throws { bus = try TestBus() }

    private func watch(
        _ events: Set<LoginEvent>, onEvent: @escaping @Sendable (LoginEvent) -> Void = { _ in }
    ) throws -> LoginMonitor {
        let journal = journal
        let watch = try LoginMonitor(events, bus: bus.address, purpose: "a test") { event in
            onEvent(event)
            journal.add(.event(event))
        } onConnection: {
            journal.add(.connection($0))
        }
        Thread.detachNewThread {
            watch.run()
            journal.add(.ended)
        }
        return watch
    }

    private func end(_ watch: LoginMonitor) {
        watch.end()
        #expect(journal.wait { journal.entries.withLock { $0.last == .ended } })
    }

    @Test("L4: suspend waits for the lock: the inhibitor is held before, released after, and acquired again")
    func suspend() throws {
        try bus.run("bus")
        try bus.run("logind")
        let held = Mutex<[String]>([])
        let watch = try watch([.suspend]) { [bus] _ in
            // As long as a lock may take: the inhibitor must be held during that time.
            Thread.sleep(forTimeInterval: 0.5)
            let count = (try? bus.run("inhibitors")) ?? "none"
            held.withLock { $0.append(count) }
        }
        #expect(journal.wait { journal.connections == 1 })
        #expect(try bus.run("inhibitors") == "1")
        for round in 1...2 {
            try bus.run("sleep", "true")
            #expect(journal.wait { journal.count(.suspend) == round })
            #expect(held.withLock { $0 } == [String](repeating: "1", count: round))
            #expect(journal.wait { (try? bus.run("inhibitors")) == "0" })
            try bus.run("sleep", "false")
            #expect(journal.wait { (try? bus.run("inhibitors")) == "1" })
        }
        end(watch)
        #expect(try bus.run("inhibitors") == "0")
        #expect(journal.count(.suspend) == 2 && journal.count(.screen) == 0)
    }

    @Test("L4: without permission for an inhibitor, suspend and screen events still lock, and a log message reports it")
    func refused() throws {
        try bus.run("bus")
        try bus.run("logind")
        try bus.run("refuse")
        try bus.run("session", "c1", "\(getuid())")
        let watch = try watch([.suspend, .screen])
        #expect(journal.wait { journal.undelayed == 1 })
        try bus.run("sleep", "true")
        #expect(journal.wait { journal.count(.suspend) == 1 })
        try bus.run("sleep", "false")
        try bus.run("lock", "c1")
        #expect(journal.wait { journal.count(.screen) == 1 })
        end(watch)
        #expect(journal.failures == 0 && journal.connections == 0 && journal.undelayed == 1)
    }

    @Test("L4: a session of this user that is locked, by signal or hint, causes an event; other sessions do not")
    func screen() throws {
        try bus.run("bus")
        try bus.run("logind")
        try bus.run("session", "c1", "\(getuid())")
        try bus.run("session", "c2", "\(getuid() + 4711)")
        let watch = try watch([.screen])
        #expect(journal.wait { journal.connections == 1 })
        #expect(try bus.run("inhibitors") == "0")
        try bus.run("lock", "c2")
        try bus.run("hint", "c2", "true")
        try bus.run("sleep", "true")
        try bus.run("lock", "c1")
        #expect(journal.wait { journal.count(.screen) == 1 })
        try bus.run("hint", "c1", "true")
        #expect(journal.wait { journal.count(.screen) == 2 })
        try bus.run("hint", "c1", "false")
        try bus.run("lock", "c1")
        #expect(journal.wait { journal.count(.screen) == 3 })
        end(watch)
        #expect(journal.count(.screen) == 3 && journal.count(.suspend) == 0)
    }

    @Test("L4: a signal that another program than logind sends locks nothing, and ends no connection")
    func forged() throws {
        try bus.run("bus")
        try bus.run("logind")
        try bus.run("session", "c1", "\(getuid())")
        let watch = try watch([.suspend, .screen])
        #expect(journal.wait { journal.connections == 1 })
        try bus.run("forge", "c1")
        // What logind sends after that is received after that.
        try bus.run("sleep", "true")
        #expect(journal.wait { journal.count(.suspend) >= 1 })
        try bus.run("lock", "c1")
        #expect(journal.wait { journal.count(.screen) >= 1 })
        end(watch)
        #expect(journal.count(.suspend) == 1 && journal.count(.screen) == 1)
        #expect(journal.connections == 1 && journal.failures == 0)
    }

    @Test("L4: a lost bus is reported once, and reconnected; events missed in between are not reported")
    func busReturns() throws {
        try bus.run("bus")
        try bus.run("logind")
        let watch = try watch([.suspend, .screen])
        #expect(journal.wait { journal.connections == 1 })
        try bus.run("stop")
        #expect(journal.wait { journal.failures == 1 })
        try bus.run("bus")
        // A bus without logind is not enough.
        Thread.sleep(forTimeInterval: 2)
        #expect(journal.connections == 1 && journal.failures >= 1)
        try bus.run("logind")
        try bus.run("session", "c1", "\(getuid())")
        try bus.run("hint", "c1", "true")
        #expect(journal.wait { journal.connections == 2 })
        #expect(journal.wait { journal.count(.screen) >= 1 })
        #expect(try bus.run("inhibitors") == "1")
        end(watch)
    }

    @Test("L4: without a bus one message reports it, connecting is retried, and the thread ends on request")
    func noBus() throws {
        let watch = try watch([.suspend, .screen])
        #expect(journal.wait { journal.failures == 1 })
        Thread.sleep(forTimeInterval: 3.5)
        #expect(journal.entries.withLock { $0.count } == 1)
        let before = WakeupTimer.now
        end(watch)
        #expect(WakeupTimer.now - before < .seconds(5))
        #expect(journal.entries.withLock { $0.count } == 2)
    }
}
