import CLinuxSupport
import Glibc
public import SystemPackage

/// A program started with posix_spawn(3), with selected descriptors, default signal actions and no blocked signals.
public struct ChildProcess: Sendable {
    public let identifier: Int32

    /// The settings of a start.
    public struct Configuration {
        public var executable: String
        public var arguments: [String]
        /// Variables added to this process's environment, or replaced in it, as `NAME=value`.
        public var environment: [String] = []
        /// Descriptors of this process by their number in the child. 0, 1 and 2 are /dev/null unless they are given.
        public var descriptors: [Int32: Int32] = [:]
        /// Whether the child leads its own session (setsid(2)).
        public var hasOwnSession = false

        public init(
            executable: String, arguments: [String], environment: [String] = [], descriptors: [Int32: Int32] = [:],
            hasOwnSession: Bool = false
        ) {
            (self.executable, self.arguments, self.environment) = (executable, arguments, environment)
            (self.descriptors, self.hasOwnSession) = (descriptors, hasOwnSession)
        }
    }

    /// Starts the program.
    ///
    /// - Throws: The errno of posix_spawn(3).
    public init(_ configuration: Configuration) throws(Errno) {
        // Above every target, so that placing one descriptor does not overwrite another.
        var raised: [Int32: Int32] = [:]
        defer { for descriptor in raised.values { close(descriptor) } }
        for (target, source) in configuration.descriptors {
            let copy = fcntl(source, F_DUPFD_CLOEXEC, 64)
            guard copy >= 0 else { throw Errno(rawValue: errno) }
            raised[target] = copy
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe Self.place(raised, &actions)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        Self.setSignals(&attributes, hasOwnSession: configuration.hasOwnSession)
        identifier = try unsafe Self.spawn(configuration, &actions, &attributes)
    }

    private static func place(_ descriptors: [Int32: Int32], _ actions: inout posix_spawn_file_actions_t) {
        for standard: Int32 in 0...2 where descriptors[standard] == nil {
            unsafe posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
        }
        for (target, source) in descriptors { unsafe posix_spawn_file_actions_adddup2(&actions, source, target) }
        let last = max(2, descriptors.keys.max() ?? 2)
        unsafe close_in_child(&actions, last + 1)
    }

    private static func setSignals(_ attributes: inout posix_spawnattr_t, hasOwnSession: Bool) {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (hasOwnSession ? Int32(spawn_own_session) : 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    private static func spawn(
        _ configuration: Configuration, _ actions: inout posix_spawn_file_actions_t,
        _ attributes: inout posix_spawnattr_t
    ) throws(Errno) -> pid_t {
        var arguments = unsafe ([configuration.executable] + configuration.arguments).map { unsafe strdup($0) } + [nil]
        var environment = unsafe Self.environment(adding: configuration.environment).map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe environment.indices { unsafe free(environment[index]) }
        }
        var identifier = pid_t()
        let result = unsafe posix_spawn(
            &identifier, configuration.executable, &actions, &attributes, &arguments, &environment)
        guard result == 0 else { throw Errno(rawValue: result) }
        return identifier
    }

    private static func environment(adding added: [String]) -> [String] {
        let names = added.map { $0.prefix { $0 != "=" } + "=" }
        var variables = added
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            let text = unsafe String(cString: variable)
            if !names.contains(where: { text.hasPrefix($0) }) { variables.append(text) }
            unsafe next += 1
        }
        return variables
    }

    /// Waits for the exit. Returns the exit status, or 128 plus the number of the signal that killed the process.
    @discardableResult
    public func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        return Self.exitStatus(status)
    }

    /// Waits for the exit of a program that uses the terminal: the keys for SIGINT and SIGQUIT do not end this process. Returns the exit
    /// status as ``wait()``.
    public func waitInForeground() -> Int32 {
        let interrupt = signal(SIGINT, SIG_IGN)
        let quit = signal(SIGQUIT, SIG_IGN)
        defer {
            _ = signal(SIGINT, interrupt)
            _ = signal(SIGQUIT, quit)
        }
        return wait()
    }

    /// Waits for the exit, at most until a time. Returns the exit status as ``wait()``; nil if the process continues.
    public func wait(until deadline: ContinuousClock.Instant) -> Int32? {
        let shortSteps = ContinuousClock.now + .seconds(1)
        while true {
            var status: Int32 = 0
            let result = unsafe waitpid(identifier, &status, WNOHANG)
            if result > 0 { return Self.exitStatus(status) }
            guard result == 0 || errno == EINTR else { return 127 }
            let now = ContinuousClock.now
            guard now < deadline else { return nil }
            usleep(now < shortSteps ? 10_000 : 500_000)
        }
    }

    private static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Sends SIGTERM. The caller waits.
    public func requestEnd() { kill(identifier, SIGTERM) }

    /// Waits up to `timeout` milliseconds for the exit, then kills the process.
    public func terminate(afterMilliseconds timeout: Int) {
        guard wait(until: ContinuousClock.now + .milliseconds(timeout)) == nil else { return }
        kill(identifier, SIGKILL)
        wait()
    }

    /// The path of this program, whose name ps(1) and pgrep(1) then show. If it no longer exists, the kernel's link to
    /// the program.
    public static var ownProgram: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = unsafe readlink("/proc/self/exe", &path, Int(PATH_MAX))
        let name = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        let program = String(decoding: name, as: UTF8.self)
        return unsafe Glibc.access(program, X_OK) == 0 ? program : "/proc/self/exe"
    }

    /// Returns the path of the program `name` in PATH; nil if it does not exist.
    public static func find(_ name: String) -> String? {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { unsafe Glibc.access($0, X_OK) == 0 }
    }
}
