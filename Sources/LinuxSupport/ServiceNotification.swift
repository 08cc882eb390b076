import Glibc

/// A message to the service manager that has started this process (sd_notify(3)): a datagram to the socket in
/// `NOTIFY_SOCKET`.
///
/// The protocol is documented for implementations without libsystemd.
public enum ServiceNotification: String, Sendable {
    /// The service is ready.
    case ready = "READY=1"
    /// The service is about to exit.
    case stopping = "STOPPING=1"

    /// Sends the message. Does nothing without a service manager. Does not block.
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

    /// Parses an address: a path or, after `@`, an abstract name (unix(7)); nil for anything else.
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
