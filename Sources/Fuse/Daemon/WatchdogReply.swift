/// The watchdog's reply to a request to unmount: a code, and the message of fusermount3.
enum WatchdogReply {
    /// The maximum size in bytes, which a pipe writes atomically (PIPE_BUF, pipe(7)).
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
