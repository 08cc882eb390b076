/// A message of a daemon to its watchdog: one byte for a shutdown; otherwise one byte for the kind and eight for a
/// number.
enum WatchdogMessage: Equatable {
    /// The mount no longer exists, and the watchdog must exit.
    case shutdown
    /// The ID of the mount in /proc/self/mountinfo.
    case mount(Int)
    /// A request for a ``WatchdogReply``.
    case unmount(lazily: Bool)

    /// The size of the longest message in bytes.
    static let byteCount = 9
    private static let (shutdownCode, mountCode, unmountCode): (UInt8, UInt8, UInt8) = (1, 2, 3)

    var bytes: [UInt8] {
        switch self {
        case .shutdown: [Self.shutdownCode]
        case .mount(let number): Self.bytes(Self.mountCode, UInt64(bitPattern: Int64(number)))
        case .unmount(let lazily): Self.bytes(Self.unmountCode, lazily ? 1 : 0)
        }
    }

    /// Decodes a message. Unknown bytes are a shutdown: a watchdog that does not understand its daemon must not
    /// unmount.
    init(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount, let code = bytes.first, code == Self.mountCode || code == Self.unmountCode
        else {
            self = .shutdown
            return
        }
        let number = bytes.dropFirst().reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self = code == Self.mountCode ? .mount(Int(truncatingIfNeeded: number)) : .unmount(lazily: number != 0)
    }

    private static func bytes(_ code: UInt8, _ number: UInt64) -> [UInt8] {
        [code] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}
