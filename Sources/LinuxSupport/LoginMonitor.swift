import Glibc
import Synchronization
public import SystemPackage

/// Hears from logind that the system is about to sleep, or that the screen was locked, and holds sleep up until that is
/// dealt with. Without a bus or logind it says so once, and goes on trying.
///
/// See org.freedesktop.login1(5) and "Inhibitor Locks" of systemd's documentation.
public final class LoginMonitor: Sendable {
    /// What whoever asks logind is shown about the inhibitor.
    private static let who = "keychainfs"
    /// In seconds, between attempts: doubled each time.
    private static let delays = (first: 1, last: 30)

    private let address: String?
    private let events: Set<LoginEvent>
    private let purpose: String
    private let onEvent: @Sendable (LoginEvent) -> Void
    private let onConnection: @Sendable (LoginConnection) -> Void
    private let alarm: WakeupTimer
    private let hasEnded = Atomic(false)

    /// - Parameters:
    ///   - bus: its address; nil is the system's bus.
    ///   - purpose: why sleep has to wait, for a person.
    ///   - onEvent: called on the watch's thread; the system sleeps when it has returned (or logind's patience,
    ///     InhibitDelayMaxSec, is at an end).
    ///   - onConnection: called on the same thread when that has changed, and once at the start.
    /// - Throws: EMFILE, ENFILE, ENOMEM.
    public init(
        _ events: Set<LoginEvent>, bus: String? = nil, purpose: String,
        onEvent: @escaping @Sendable (LoginEvent) -> Void,
        onConnection: @escaping @Sendable (LoginConnection) -> Void
    ) throws(Errno) {
        address = bus
        self.events = events
        self.purpose = purpose
        self.onEvent = onEvent
        self.onConnection = onConnection
        alarm = try WakeupTimer()
    }

    /// Ends ``run()`` soon, from any thread.
    public func end() {
        hasEnded.store(true, ordering: .relaxed)
        alarm.wake()
    }

    /// Serves until ``end()``, or until there is nobody to hear.
    public func run() {
        var known: LoginConnection?
        var delay = Self.delays.first
        func report(_ connection: LoginConnection) {
            if connection != known { onConnection(connection) }
            known = connection
        }
        while !hasEnded.load(ordering: .relaxed) {
            do throws(Errno) {
                try serve(isFirst: known == nil) { connection in
                    delay = Self.delays.first
                    report(connection)
                }
            } catch LoginBus.noPackage {
                return report(.unreachable("libsystemd.so.0 is not installed"))
            } catch {
                report(.unreachable("\(error)"))
            }
            guard !hasEnded.load(ordering: .relaxed) else { return }
            alarm.wait(until: WakeupTimer.now + .seconds(delay))
            delay = min(2 * delay, Self.delays.last)
        }
    }

    /// One connection, from its beginning to its end. `isFirst`: a screen that is locked at the start is nothing new.
    private func serve(isFirst: Bool, report: (LoginConnection) -> Void) throws(Errno) {
        let bus = try LoginBus(address: address)
        try bus.watch(events)
        var inhibitor = Inhibitor()
        report(try catchUp(bus, &inhibitor, isFirst: isFirst))
        while !hasEnded.load(ordering: .relaxed) {
            guard let signal = try bus.next() else {
                bus.wait(alarm)
                continue
            }
            switch signal {
            case .sleep:
                onEvent(.suspend)
                inhibitor.release()
            case .wake: report(inhibit(bus, &inhibitor))
            case .sessionLock: onEvent(.screen)
            case .ownerNew: report(try catchUp(bus, &inhibitor, isFirst: false))
            case .ownerLost: throw .connectionReset
            }
        }
    }

    /// What may have happened while nobody listened.
    private func catchUp(
        _ bus: borrowing LoginBus, _ inhibitor: inout Inhibitor, isFirst: Bool
    ) throws(Errno) -> LoginConnection {
        let connection = inhibit(bus, &inhibitor)
        if events.contains(.suspend), try bus.isPreparing {
            onEvent(.suspend)
            inhibitor.release()
        }
        if events.contains(.screen), !isFirst, try bus.isLocked { onEvent(.screen) }
        return connection
    }

    /// Who is refused it hears what happens all the same: a lock that comes late is better than none.
    private func inhibit(_ bus: borrowing LoginBus, _ inhibitor: inout Inhibitor) -> LoginConnection {
        guard events.contains(.suspend) else { return .connected }
        do throws(Errno) {
            inhibitor.hold(try bus.inhibitSleep(who: Self.who, why: purpose))
            return .connected
        } catch {
            return .withoutDelay("\(error)")
        }
    }
}

/// The descriptor that keeps the system from sleeping.
private struct Inhibitor: ~Copyable {
    private var descriptor: Int32 = -1

    init() {}

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes over `new`; the one before it, if any, is given back after.
    mutating func hold(_ new: Int32) {
        release()
        descriptor = new
    }

    mutating func release() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
