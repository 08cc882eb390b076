import CLinuxSupport
import Glibc
import SystemPackage

/// One connection to logind on a bus, used by one thread.
@safe
struct LoginBus: ~Copyable {
    /// What logind has told.
    enum Signal {
        case sleep
        case wake
        case sessionLock
        case ownerLost
        case ownerNew
    }

    /// In microseconds: how long any call waits.
    private static let timeout: UInt64 = 5_000_000
    private let bus: OpaquePointer

    /// `address` is that of a bus, nil the system's. Throws `noPackage` where there is no libsystemd.
    init(address: String?) throws(Errno) {
        var bus: OpaquePointer?
        try Self.check(unsafe login_bus_open(address, Self.timeout, &bus))
        guard let bus = unsafe bus else { throw .noMemory }
        unsafe self.bus = bus
    }

    deinit { unsafe login_bus_close(bus) }

    /// There is no libsystemd.
    static let noPackage = Errno(rawValue: ENOPKG)

    /// Signals of these events are heard from now on. Throws if logind does not answer.
    func watch(_ events: Set<LoginEvent>) throws(Errno) {
        try Self.check(unsafe login_bus_watch(bus, events.contains(.suspend), events.contains(.screen)))
    }

    /// A descriptor that the caller closes when the system may sleep.
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

    /// The next signal that has come; nil if there is none (yet).
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

    /// Waits until something has come, or `alarm` is rung.
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
