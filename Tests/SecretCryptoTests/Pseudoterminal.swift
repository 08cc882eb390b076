import Glibc

/// A terminal with a test at the other end. See pty(7).
struct Pseudoterminal: Sendable {
    let master: Int32
    let path: String

    init?() {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var unlock: Int32 = 0
        var number: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        guard master >= 0, ioctl(master, 0x4004_5431, &unlock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            return nil
        }
        path = "/dev/pts/\(number)"
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Returns the terminal's output until `end` has appeared, or for `milliseconds`.
    func output(until end: String, milliseconds: Int32 = 5000) -> String {
        var seen: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 256)
        while !String(decoding: seen, as: UTF8.self).contains(end) {
            var polls = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&polls, 1, milliseconds) == 1, case let got = read(master, &chunk, chunk.count), got > 0 else {
                break
            }
            seen += chunk[..<got]
        }
        return String(decoding: seen, as: UTF8.self)
    }

    /// Whether the terminal echoes input.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(master, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}
