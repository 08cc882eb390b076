import Glibc
import Synchronization
public import SystemPackage

/// Monitors logind for a suspend and for a locked screen, and delays a suspend until it has been handled.
///
/// Without a bus or logind it reports that once and keeps retrying. See org.freedesktop.login1(5) and "Inhibitor Locks"
/// of systemd's documentation.
public final class LoginMonitor: Sendable {
    /// The name that logind shows for the inhibitor lock.
    private static let who = "keychainfs"
    /// The delays between attempts in seconds, doubled each time.
    private static let delays = (first: 1, last: 30)

    private let address: String?
    private let events: Set<LoginEvent>
    private let purpose: String
    private let onEvent: @Sendable (LoginEvent) -> Void
    private let onConnection: @Sendable (LoginConnection) -> Void
    private let alarm: WakeupTimer
    private let hasEnded = Atomic(false)

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - bus: The address of the bus; nil for the system bus.
    ///   - purpose: The reason for delaying a suspend, shown to users.
    ///   - onEvent: Called on the monitor's thread. The system sleeps when it has returned, or after logind's
    ///     InhibitDelayMaxSec.
    ///   - onConnection: Called on the same thread when the connection's state has changed, and once at the start.
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

    /// Runs until ``end()``, or until libsystemd proves not to be installed.
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

    /// Serves one connection until it fails. With `isFirst`, a screen that is locked already is not reported.
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

    /// Reports events that may have occurred while no connection existed.
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

    /// Requests an inhibitor lock. If it is refused, events are still reported: locking late is better than not at all.
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

/// The descriptor of the inhibitor lock.
private struct Inhibitor: ~Copyable {
    private var descriptor: Int32 = -1

    init() {}

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Stores `new` and then closes the previous descriptor.
    mutating func hold(_ new: Int32) {
        release()
        descriptor = new
    }

    mutating func release() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
