import Glibc

/// A terminal at which the user is prompted. See termios(3), tty_ioctl(4).
struct Terminal: ~Copyable {
    /// The maximum length of a line in the kernel's buffer (N_TTY_BUF_SIZE, newline included). The rest of a longer
    /// line is lost.
    static let lineLimit = 4096

    private let descriptor: Int32

    init(path: String) throws(PassphraseError) {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .noTerminal(errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Prompts and reads one line without echo, up to its newline or ^D.
    func readLine(prompt: String, in arena: SecretArena) throws(PassphraseError) -> SecretBytes {
        let watch = try SignalPipe()
        while true {
            let signal: Int32
            switch try attempt(prompt: prompt, watch: watch, in: arena) {
            case .line(let line): return line
            case .signal(let caught): signal = caught
            }
            // The settings are restored: the signal may now take its effect. After a stop the program prompts again,
            // otherwise it ends with an error.
            watch.deliver(signal)
            guard signal == SIGTSTP else { throw .interrupted }
        }
    }

    private enum Outcome: ~Copyable {
        case line(SecretBytes)
        case signal(Int32)
    }

    private func attempt(
        prompt: String, watch: borrowing SignalPipe, in arena: SecretArena
    ) throws(PassphraseError) -> Outcome {
        let line: SecretBytes
        do { line = try SecretBytes(count: Self.lineLimit, in: arena) } catch { throw .crypto(error) }
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { throw .noTerminal(errno) }
        var silent = settings
        silent.c_lflag = silent.c_lflag & ~tcflag_t(ECHO) | tcflag_t(ECHONL | ICANON | ISIG)
        // Discards input that was typed before the echo was off.
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { throw .noTerminal(errno) }
        defer { unsafe _ = tcsetattr(descriptor, TCSANOW, &settings) }
        show(prompt)
        return try fill(line, watch: watch)
    }

    private func fill(
        _ empty: consuming SecretBytes, watch: borrowing SignalPipe
    ) throws(PassphraseError) -> Outcome {
        var line = empty
        var filled = 0
        while true {
            if let signal = watch.wait(for: descriptor) { return .signal(signal) }
            let got: Int
            do { got = try line.fill(from: descriptor, at: filled) } catch { throw .crypto(error) }
            guard got > 0 || filled > 0 else { throw .endOfFile }
            filled += got
            let isComplete = got == 0 || line.bytes.octets[filled - 1] == UInt8(ascii: "\n")
            if filled >= Self.lineLimit { throw .tooLong }
            if isComplete {
                line.truncate(to: filled)
                return .line(line)
            }
        }
    }

    /// Prints the text. Reading continues if that fails.
    private func show(_ text: String) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let written = unsafe bytes[done...].withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard written > 0 || (written < 0 && errno == EINTR) else { return }
            done += max(0, written)
        }
    }
}
