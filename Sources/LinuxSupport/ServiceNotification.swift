import Glibc

/// What a service tells the manager that has started it (sd_notify(3)): datagrams to the socket in `NOTIFY_SOCKET`.
///
/// The protocol is documented to be implemented without libsystemd.
public enum ServiceNotification: String, Sendable {
    /// The service does its work.
    case ready = "READY=1"
    /// It is about to end.
    case stopping = "STOPPING=1"

    /// Does nothing where nobody listens. Never waits.
    public func send() {
        guard let name = unsafe getenv("NOTIFY_SOCKET").map({ unsafe String(cString: $0) }) else { return }
        guard let (address, count) = Self.address(name) else { return }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(rawValue.utf8)
        unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), address, count)
            }
        }
    }

    /// A path, or after `@` a name without a file (unix(7)); nil for anything else.
    private static func address(_ name: String) -> (sockaddr_un, socklen_t)? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@") else { return nil }
        if first == UInt8(ascii: "@") { bytes[0] = 0 }
        let offset = MemoryLayout<sa_family_t>.size
        guard bytes.count < MemoryLayout<sockaddr_un>.size - offset else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return (address, socklen_t(offset + bytes.count))
    }
}
