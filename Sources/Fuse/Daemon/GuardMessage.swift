/// What a daemon sends to its guard through a pipe: one byte for a goodbye, otherwise a byte for the kind and eight for a number.
enum GuardMessage: Equatable {
    /// The mount is gone: the guard ends.
    case goodbye
    /// The number of the mount in /proc/self/mountinfo.
    case mount(Int)
    /// Asks for a ``GuardReply``.
    case unmount(lazily: Bool)

    /// Of the longest message.
    static let byteCount = 9
    private static let (goodbyeCode, mountCode, unmountCode): (UInt8, UInt8, UInt8) = (1, 2, 3)

    var bytes: [UInt8] {
        switch self {
        case .goodbye: [Self.goodbyeCode]
        case .mount(let number): Self.bytes(Self.mountCode, UInt64(bitPattern: Int64(number)))
        case .unmount(let lazily): Self.bytes(Self.unmountCode, lazily ? 1 : 0)
        }
    }

    /// Whatever is not another message is a goodbye: a guard that does not understand its daemon must not unmount.
    init(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount, let code = bytes.first, code == Self.mountCode || code == Self.unmountCode
        else {
            self = .goodbye
            return
        }
        let number = bytes.dropFirst().reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self = code == Self.mountCode ? .mount(Int(truncatingIfNeeded: number)) : .unmount(lazily: number != 0)
    }

    private static func bytes(_ code: UInt8, _ number: UInt64) -> [UInt8] {
        [code] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}

/// How an unmount by the guard ended, as it is sent to the daemon: a code, and what fusermount3 said.
enum GuardReply {
    /// Written at once by a pipe (PIPE_BUF, pipe(7)).
    static let byteLimit = 512

    static func bytes(_ error: FuseError?) -> [UInt8] {
        switch error {
        case nil: [0]
        case .busy: [1]
        case .notMounted: [2]
        case .unmountRefused(let message): [3] + message.utf8.prefix(byteLimit - 1)
        case .some(let error): [3] + "\(error)".utf8.prefix(byteLimit - 1)
        }
    }

    static func error(_ bytes: some Collection<UInt8>) -> FuseError? {
        switch bytes.first {
        case 0: nil
        case 1: .busy
        case 2: .notMounted
        default: .unmountRefused(message: String(decoding: bytes.dropFirst(), as: UTF8.self))
        }
    }
}
