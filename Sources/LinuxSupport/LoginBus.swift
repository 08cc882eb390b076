import CLinuxSupport
import Glibc
import SystemPackage

/// A connection to logind on a bus, used by one thread.
@safe
struct LoginBus: ~Copyable {
    /// A signal from logind.
    enum Signal {
        case sleep
        case wake
        case sessionLock
        case ownerLost
        case ownerNew
    }

    /// The timeout of every call in microseconds.
    private static let timeout: UInt64 = 5_000_000
    private let bus: OpaquePointer

    /// Connects to a bus.
    ///
    /// - Parameter address: The address of the bus; nil for the system bus.
    /// - Throws: `noPackage` if libsystemd is not installed.
    init(address: String?) throws(Errno) {
        var bus: OpaquePointer?
        try Self.check(unsafe login_bus_open(address, Self.timeout, &bus))
        guard let bus = unsafe bus else { throw .noMemory }
        unsafe self.bus = bus
    }

    deinit { unsafe login_bus_close(bus) }

    /// libsystemd is not installed.
    static let noPackage = Errno(rawValue: ENOPKG)

    /// Subscribes to the signals of these events. Throws if logind does not reply.
    func watch(_ events: Set<LoginEvent>) throws(Errno) {
        try Self.check(unsafe login_bus_watch(bus, events.contains(.suspend), events.contains(.screen)))
    }

    /// Requests an inhibitor lock: a descriptor that the caller closes when the system may sleep.
    func inhibitSleep(who: String, why: String) throws(Errno) -> Int32 {
        try Self.check(unsafe login_bus_inhibit_sleep(bus, who, why))
    }

    var isPreparing: Bool {
        get throws(Errno) { try Self.check(unsafe login_bus_is_preparing(bus)) != 0 }
    }

    /// Whether a session of this user is locked.
    var isLocked: Bool {
        get throws(Errno) { try Self.check(unsafe login_bus_is_locked(bus)) != 0 }
    }

    /// Returns the next signal; nil if none has arrived.
    func next() throws(Errno) -> Signal? {
        let kind = try Self.check(unsafe login_bus_next(bus))
        return switch UInt32(kind) {
        case login_bus_sleep.rawValue: .sleep
        case login_bus_wake.rawValue: .wake
        case login_bus_session_lock.rawValue: .sessionLock
        case login_bus_owner_lost.rawValue: .ownerLost
        case login_bus_owner_new.rawValue: .ownerNew
        default: nil
        }
    }

    /// Blocks until a message has arrived or `alarm` is woken.
    func wait(_ alarm: WakeupTimer) {
        let events = unsafe login_bus_poll_events(bus)
        alarm.wait(until: nil, orFor: Int16(truncatingIfNeeded: events), on: unsafe login_bus_descriptor(bus))
    }

    @discardableResult
    private static func check(_ result: Int32) throws(Errno) -> Int32 {
        guard result >= 0 else { throw Errno(rawValue: -result) }
        return result
    }
}
