import Glibc
import SystemPackage

/// Two connected stream sockets (socketpair(2)) that no other program inherits. Each is closed once, by the owner to
/// which it was passed or with the pair.
struct SocketPair: ~Copyable {
    private(set) var first: Int32
    private(set) var second: Int32

    init() throws(Errno) {
        var sockets: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &sockets) == 0 else { throw Errno(rawValue: errno) }
        (first, second) = (sockets[0], sockets[1])
    }

    deinit {
        if first >= 0 { close(first) }
        if second >= 0 { close(second) }
    }

    mutating func closeFirst() {
        if first >= 0 { close(first) }
        first = -1
    }

    mutating func closeSecond() {
        if second >= 0 { close(second) }
        second = -1
    }
}
