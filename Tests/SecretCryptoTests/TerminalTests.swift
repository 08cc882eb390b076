import Dispatch
import Glibc
import SecretCrypto
import Synchronization
import Testing

/// Each test runs in a separate process, because signal handlers belong to the process.
@Suite struct TerminalTests {
    @Test("The terminal shows the prompt and no passphrase, and echoes again afterwards")
    func echo() async {
        await #expect(processExitsWith: .exitCode(0)) {
            guard let terminal = Pseudoterminal() else { exit(1) }
            let descriptor = open(terminal.path, O_RDWR | O_NOCTTY)
            guard descriptor >= 0, terminal.echoes else { exit(2) }
            let person = Background {
                guard terminal.output(until: "Passphrase: ") == "Passphrase: ", !terminal.echoes else { exit(3) }
                terminal.type("correct hors\u{7F}se\n")
            }
            guard let got = try? PassphraseReader.ask("Passphrase: ", terminal: terminal.path) else { exit(4) }
            guard plain(got) == Array("correct horse".utf8), person.ends(within: 5) else { exit(5) }
            guard terminal.echoes, terminal.output(until: "\n") == "\r\n" else { exit(6) }
            guard terminal.output(until: "horse", milliseconds: 200) == "" else { exit(7) }
            exit(0)
        }
    }

    @Test("Nothing typed, ^D and lines that the kernel would cut are refused")
    func refusals() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let cases: [(String, PassphraseError)] = [
                ("\n", .empty), ("\u{4}", .endOfFile), (String(repeating: "x", count: 4200) + "\n", .tooLong),
            ]
            for (typed, expected) in cases {
                guard let terminal = Pseudoterminal() else { exit(1) }
                let descriptor = open(terminal.path, O_RDWR | O_NOCTTY)
                let person = Background {
                    guard terminal.output(until: "? ") == "? " else { exit(2) }
                    terminal.type(typed)
                }
                do throws(PassphraseError) {
                    _ = try PassphraseReader.ask("? ", terminal: terminal.path)
                    exit(3)
                } catch {
                    guard error == expected, person.ends(within: 5), terminal.echoes else { exit(4) }
                }
                close(descriptor)
            }
            exit(0)
        }
    }

    @Test("A signal that the program survives ends the question; settings and handlers are put back first")
    func survivedSignal() async {
        await #expect(processExitsWith: .exitCode(0)) {
            guard let terminal = Pseudoterminal() else { exit(1) }
            let descriptor = open(terminal.path, O_RDWR | O_NOCTTY)
            guard descriptor >= 0 else { exit(2) }
            signal(SIGINT) { _ in handled.add(1, ordering: .sequentiallyConsistent) }
            let person = Background {
                guard terminal.output(until: "? ") == "? ", !terminal.echoes else { exit(3) }
                kill(getpid(), SIGINT)
            }
            do throws(PassphraseError) {
                _ = try PassphraseReader.ask("? ", terminal: terminal.path)
                exit(4)
            } catch {
                guard error == .interrupted, person.ends(within: 5) else { exit(5) }
            }
            guard terminal.echoes, handled.load(ordering: .sequentiallyConsistent) == 1 else { exit(6) }
            // Not raise: this thread may block signals.
            kill(getpid(), SIGINT)
            for _ in 0..<5000 where handled.load(ordering: .sequentiallyConsistent) < 2 { usleep(1000) }
            exit(handled.load(ordering: .sequentiallyConsistent) == 2 ? 0 : 7)
        }
    }

    @Test("After a stop the prompt is repeated without echo, and input from before the stop is discarded")
    func stopped() async {
        await #expect(processExitsWith: .exitCode(0)) {
            guard let terminal = Pseudoterminal() else { exit(1) }
            let descriptor = open(terminal.path, O_RDWR | O_NOCTTY)
            // A handler in place of the stop, which would stop the test as well.
            signal(SIGTSTP) { _ in handled.add(1, ordering: .sequentiallyConsistent) }
            let person = Background {
                guard terminal.output(until: "? ") == "? " else { exit(2) }
                terminal.type("half a pass")
                kill(getpid(), SIGTSTP)
                guard terminal.output(until: "? ") == "? ", !terminal.echoes else { exit(3) }
                terminal.type("phrase\n")
            }
            guard let got = try? PassphraseReader.ask("? ", terminal: terminal.path) else { exit(4) }
            guard plain(got) == Array("phrase".utf8), person.ends(within: 5), terminal.echoes else { exit(5) }
            close(descriptor)
            exit(handled.load(ordering: .sequentiallyConsistent) == 1 ? 0 : 6)
        }
    }

    @Test("A signal that ends the program restores the terminal first", arguments: [SIGINT, SIGTERM, SIGHUP])
    func fatalSignal(number: Int32) async throws {
        let terminal = try #require(Pseudoterminal())
        let descriptor = open(terminal.path, O_RDWR | O_NOCTTY)
        try #require(descriptor >= 0 && terminal.echoes)
        await #expect(processExitsWith: .signal(number)) { [path = terminal.path as String, number = number as Int32] in
            Glibc.signal(number, SIG_DFL)
            let person = Background {
                let other = open(path, O_RDWR | O_NOCTTY)
                var settings = termios()
                repeat { usleep(1000) } while tcgetattr(other, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
                // The prompt appears after the change of the settings; slightly later the program waits for input.
                usleep(20_000)
                kill(getpid(), number)
            }
            _ = try? PassphraseReader.ask("? ", terminal: path)
            _ = person.ends(within: 5)
            exit(4)
        }
        #expect(terminal.echoes && terminal.output(until: "? ") == "? ")
        close(descriptor)
        close(terminal.master)
    }

    @Test("Without a terminal there is an errno")
    func noTerminal() {
        #expect(throws: PassphraseError.noTerminal(ENOENT)) {
            _ = try PassphraseReader.ask("? ", terminal: "/nonexistent/tty")
        }
        #expect(throws: PassphraseError.noTerminal(ENOTTY)) {
            _ = try PassphraseReader.ask("? ", terminal: "/dev/null")
        }
    }
}

private let handled = Atomic<Int>(0)
