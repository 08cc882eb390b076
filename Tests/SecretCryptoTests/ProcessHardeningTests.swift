import Glibc
import SecretCrypto
import Testing

/// Each test runs in a separate process, because its changes of the process are permanent.
@Suite struct ProcessHardeningTests {
    @Test("H1: after apply the kernel says that there is no core dump and no dumpable process")
    func apply() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var core = rlimit(rlim_cur: 0, rlim_max: 4096)
            setrlimit(RLIMIT_CORE, &core)
            let before = ProcessHardening.report()
            guard !before.undumpable, !before.coreDumpsDisabled, !before.isComplete else { exit(1) }
            let report = ProcessHardening.apply()
            guard report.undumpable, report.coreDumpsDisabled, report.memoryLocked, report.isComplete else { exit(2) }
            getrlimit(RLIMIT_CORE, &core)
            guard core.rlim_cur == 0, core.rlim_max == 0 else { exit(3) }
            // /proc/self of a process that is not dumpable belongs to root, so other users cannot read it.
            guard becomeOrdinary() else { exit(4) }
            ProcessHardening.apply()
            guard open("/proc/self/mem", O_RDONLY) == -1, errno == EACCES else { exit(5) }
            exit(0)
        }
    }

    @Test("H6: a lock that the limit forbids is reported as missing")
    func unlocked() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var none = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(RLIMIT_MEMLOCK, &none)
            guard becomeOrdinary() else { exit(4) }
            let report = ProcessHardening.apply()
            guard !report.memoryLocked, !report.isComplete, !SecretArena.shared.isLocked else { exit(1) }
            // Unlocked memory still works; what refuses, or warns, is the program.
            guard let held = try? SecretBytes(randomCount: 32), held.count == 32 else { exit(2) }
            exit(0)
        }
    }

    @Test("H6: a handler that would run in a crash is reported", arguments: [SIGSEGV, SIGABRT, SIGILL])
    func crashHandlers(_ number: Int32) async {
        await #expect(processExitsWith: .exitCode(0)) { [number = number as Int32] in
            guard ProcessHardening.apply().crashReportsOff else { exit(1) }
            signal(number) { _ in }
            let report = ProcessHardening.report()
            guard !report.crashReportsOff, !report.isComplete else { exit(2) }
            signal(number, SIG_DFL)
            exit(ProcessHardening.report().crashReportsOff ? 0 : 3)
        }
    }

    @Test("H1: the runtime's signal handlers are removed, ignored signals stay ignored", arguments: [SIGSEGV, SIGTRAP])
    func crashReports(_ number: Int32) async {
        await #expect(processExitsWith: .exitCode(0)) { [number = number as Int32] in
            unsetenv("SWIFT_BACKTRACE")
            signal(number) { _ in }
            signal(SIGQUIT, SIG_IGN)
            CrashReports.disable()
            guard ProcessHardening.apply().crashReportsOff else { exit(1) }
            guard let setting = getenv("SWIFT_BACKTRACE"), strcmp(setting, "enable=no") == 0 else { exit(2) }
            guard raise(SIGQUIT) == 0 else { exit(3) }
            var action = sigaction()
            exit(sigaction(number, nil, &action) == 0 && action.__sigaction_handler.sa_handler == nil ? 0 : 4)
        }
    }

    @Test("S2, H1: a forked child has no secret of its parent's and no nonce that the parent will take")
    func forking() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let canary = hex("1234567890abcdef1234567890abcdef00112233445566778899aabbccddeeff")
            guard let key = try? secret(canary), nonce(key) != nil else { exit(1) }
            guard let address = dlsym(nil, "fork") else { exit(2) }
            let fork = unsafeBitCast(address, to: (@convention(c) () -> Int32).self)
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { exit(3) }
            let child = fork()
            if child == 0 {
                guard !SecretArena.shared.contains(Array(canary.prefix(8))), let nonce = nonce(key) else { _exit(1) }
                _exit(write(ends[1], nonce, 24) == 24 ? 0 : 2)
            }
            var status: Int32 = 0
            guard waitpid(child, &status, 0) == child, status == 0 else { exit(4) }
            var childs = [UInt8](repeating: 0, count: 24)
            guard read(ends[0], &childs, 24) == 24 else { exit(5) }
            // The time that is mixed in changes the first eight bytes only: compare the others.
            for _ in 0..<400 {
                guard let own = nonce(key), own[8...] != childs[8...] else { exit(6) }
            }
            exit(0)
        }
    }
}

/// RLIMIT_CORE and RLIMIT_MEMLOCK (getrlimit(2)), as the macros that Swift does not import.
private let RLIMIT_CORE: __rlimit_resource_t = 4
private let RLIMIT_MEMLOCK: __rlimit_resource_t = 8

/// Root may lock and read any memory, so these tests run as another user.
private func becomeOrdinary() -> Bool { geteuid() != 0 || setuid(65534) == 0 }

private func nonce(_ key: borrowing SecretBytes) -> [UInt8]? {
    let message: [UInt8] = [1]
    return (try? AEAD.seal(message.rawSpan, key: key, associatedData: [])).map {
        Array($0.nonceAndTag.bytes.prefix(24))
    }
}
