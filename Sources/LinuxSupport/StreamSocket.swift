import Glibc

/// Writes to stream sockets (send(2)).
public enum StreamSocket {
    /// Sends all bytes, without SIGPIPE. Stops at an error, which the peer detects itself.
    public static func send(_ bytes: RawSpan, to socket: Int32) {
        unsafe bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = unsafe Glibc.send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                done += count
            }
        }
    }
}
