import KeychainTree
import LinuxSupport

/// The options of `-o`, in the format of mount.fuse3(8) and mount(8).
package struct MountOptionList: Hashable, Sendable {
    /// The users who have access besides the mounting one.
    package enum Access: String, Hashable, Sendable {
        case ownerOnly
        /// `allow_root`
        case root = "allow_root"
        /// `allow_other`: mode and owner of each item decide.
        case everyone = "allow_other"
    }

    package private(set) var isReadOnly = false
    package private(set) var access = Access.ownerOnly
    package private(set) var forbidsPrograms = false
    /// Whether to mount without unlocking: only Always items are available until the first unlock.
    package private(set) var startsLocked = false
    /// Whether the daemon blocks as soon as it is idle, instead of polling briefly.
    package private(set) var neverSpins = false
    /// The maximum memory of staged values and similar data in bytes.
    package private(set) var stagedLimit = TreeOptions.defaultStagedLimit
    /// The source that mount(8) shows; nil for the keychain's path.
    package private(set) var source: String?
    /// The passphrase file of an unattended mount (fstab).
    package private(set) var passphraseFile: String?
    /// The key file of an unattended mount. At most one of the two files is set.
    package private(set) var keyFile: String?
    /// The conditions of automatic locks.
    package private(set) var lockPolicy = LockPolicy()

    /// Parses texts of options separated by commas. Later options override earlier ones. An unknown option is an error,
    /// unless `isSloppy` (mount -s).
    package init(_ texts: [String] = [], isSloppy: Bool = false) throws(CLIError) {
        try self.init(options: texts.flatMap(Self.options), isSloppy: isSloppy)
    }

    /// Parses the options of a command line, and those of the user's settings as far as the command line does not name them.
    ///
    /// - Parameter overridden: Further options of the command line, by name; `passphrase_file` for each that names an unlock secret.
    package init(_ texts: [String], settings: [String], overridden: Set<String>) throws(CLIError) {
        let options = texts.flatMap(Self.options)
        let named = overridden.union(options.map { Self.subject($0) })
        try self.init(
            options: settings.flatMap(Self.options).filter { !named.contains(Self.subject($0)) } + options,
            isSloppy: false)
    }

    private init(options: [String], isSloppy: Bool) throws(CLIError) {
        for option in options {
            let (name, value) = Self.parts(option)
            guard try set(name, value, option) || Self.isForOthers(name) || isSloppy else { throw Self.unknown(name) }
        }
        guard !startsLocked || (passphraseFile == nil && keyFile == nil) else {
            throw CLIError(
                .usage, "'locked' unlocks nothing: leave out 'passphrase_file=' and 'key_file=', or 'locked'.")
        }
    }

    private static func parts(_ option: String) -> (name: String, value: String?) {
        let parts = option.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0) }
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    /// The name of an option, or that of another option which sets the same.
    private static func subject(_ option: String) -> String {
        let name = parts(option).name
        return [
            "rw": "ro", "exec": "noexec", "allow_root": "allow_other", "key_file": "passphrase_file",
            "locked": "passphrase_file",
        ][name] ?? name
    }

    /// Whether a text of options sets the option of this name.
    static func sets(_ name: String, in text: String) -> Bool { options(text).contains { parts($0).name == name } }

    /// The options as arguments for another process, without the files of unlock secrets.
    var arguments: [String] {
        var options: [String] = []
        if isReadOnly { options.append("ro") }
        if forbidsPrograms { options.append("noexec") }
        if startsLocked { options.append("locked") }
        if neverSpins { options.append("no_spin") }
        if access != .ownerOnly { options.append(access.rawValue) }
        if let source { options.append("fsname=" + Self.escaped(source)) }
        if stagedLimit != TreeOptions.defaultStagedLimit { options.append("staged_limit=\(stagedLimit >> 20)") }
        options += lockPolicy.options
        return options.isEmpty ? [] : ["-o", options.joined(separator: ",")]
    }

    // MARK: One option

    /// Sets an option. Returns false for an option of another program.
    private mutating func set(_ name: String, _ value: String?, _ option: String) throws(CLIError) -> Bool {
        switch (name, value) {
        case ("ro", nil): isReadOnly = true
        case ("rw", nil): isReadOnly = false
        case ("noexec", nil): forbidsPrograms = true
        case ("exec", nil): forbidsPrograms = false
        case ("locked", nil): startsLocked = true
        case ("no_spin", nil): neverSpins = true
        case ("allow_other", nil): try allow(.everyone)
        case ("allow_root", nil): try allow(.root)
        case ("fsname", let value): source = try Self.sourceName(value)
        case ("subtype", MountOperation.subtype): break
        case ("subtype", _): throw Self.anotherSubtype
        case ("passphrase_file", let value): (passphraseFile, keyFile) = (try Self.absolutePath(name, value), nil)
        case ("key_file", let value): (passphraseFile, keyFile) = (nil, try Self.absolutePath(name, value))
        case ("staged_limit", let value): stagedLimit = try Self.mebibytes(value, name)
        case ("lock_after", let value): lockPolicy.afterUse = try Self.duration(value, name)
        case ("lock_at_most", let value): lockPolicy.atMost = try Self.duration(value, name)
        case ("lock_on", let value): lockPolicy.events.formUnion(try Self.events(value))
        case ("setuid", _), ("drop_privileges", _):
            throw CLIError(
                .usage,
                "The mount option '\(name)' cannot be used here: 'setuid=' is for mount(8) with /sbin/mount.fuse alone, "
                    + "and 'drop_privileges' is not supported.")
        default: return false
        }
        return true
    }

    private mutating func allow(_ wanted: Access) throws(CLIError) {
        guard access == .ownerOnly || access == wanted else {
            throw CLIError(.usage, "The mount options 'allow_other' and 'allow_root' exclude each other.")
        }
        access = wanted
    }

    private static func sourceName(_ value: String?) throws(CLIError) -> String {
        guard let value, !value.isEmpty, value.utf8.count <= 255,
            !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw CLIError(.usage, "'fsname=' needs a name of at most 255 bytes without control characters.") }
        return value
    }

    /// The error of another subtype: commands recognize a mounted keychain, and pass secrets to it, by its type.
    private static var anotherSubtype: CLIError {
        CLIError(
            .usage, "'subtype=' is always '\(MountOperation.subtype)': it is how programs know a mounted keychain.")
    }

    private static func absolutePath(_ name: String, _ value: String?) throws(CLIError) -> String {
        guard let value, value.hasPrefix("/") else {
            throw CLIError(.usage, "'\(name)=' needs the absolute path of a file.")
        }
        return value
    }

    /// The valid limits in MiB. Another user gets a quarter, which must suffice for one value.
    private static let stagedLimits = 8...65_536

    private static func mebibytes(_ value: String?, _ name: String) throws(CLIError) -> Int {
        guard let value, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(value),
            stagedLimits.contains(count)
        else {
            throw CLIError(
                .usage,
                "'\(name)=' needs a number of MiB from \(stagedLimits.lowerBound) to \(stagedLimits.upperBound).")
        }
        return count << 20
    }

    private static func duration(_ value: String?, _ name: String) throws(CLIError) -> Duration {
        guard let duration = value.flatMap(DurationText.parse) else {
            throw CLIError(
                .usage,
                "'\(name)=' (--\(name.replacing("_", with: "-"))) needs a duration such as 90s, 15m, 8h, 1h30m or 2d: more than "
                    + "nothing, less than 68 years.")
        }
        return duration
    }

    private static func events(_ value: String?) throws(CLIError) -> Set<LoginEvent> {
        let words = (value ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let events = words.compactMap { LoginEvent(rawValue: String($0)) }
        guard events.count == words.count else {
            throw CLIError(.usage, "'lock_on=' (--lock-on) needs 'suspend', 'screen' or 'suspend,screen'.")
        }
        return Set(events)
    }

    /// All options, with placeholders for values.
    static let names = [
        "ro", "rw", "allow_other", "allow_root", "fsname=NAME", "passphrase_file=FILE", "key_file=FILE", "locked",
        "noexec", "lock_after=DURATION", "lock_at_most=DURATION", "lock_on=EVENT", "no_spin", "staged_limit=MIB",
    ]

    private static func unknown(_ name: String) -> CLIError {
        CLIError(
            .usage,
            """
            The mount option '\(Printable.text(name))' is unknown. Options: \(names.joined(separator: ", ")), and the \
            options of fstab(5) for every file system.
            """)
    }

    // MARK: Options for others

    /// The options that mount(8), systemd and mount.fuse handle themselves, or that always apply: reading changes no
    /// time, every close is durable, set-user-ID programs and devices have no effect (`nosuid` and `nodev`).
    private static let forOthers: Set<String> = [
        "defaults", "auto", "noauto", "nofail", "user", "users", "nouser", "owner", "group", "_netdev", "_rnetdev",
        "comment", "helper", "uhelper", "default_permissions", "nosuid", "suid", "nodev", "dev", "sync", "async",
        "dirsync", "atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime",
        "nostrictatime", "lazytime", "nolazytime", "silent", "loud", "mand", "nomand", "iversion", "noiversion",
    ]

    private static func isForOthers(_ name: String) -> Bool {
        name.isEmpty || name.hasPrefix("x-") || name.hasPrefix("X-") || forOthers.contains(name)
    }

    // MARK: Commas

    /// Splits options. A comma or backslash in a value is escaped by a backslash (mount.fuse3(8)).
    ///
    /// Splits by scalars, because a comma ends an option even if a following combining mark would form one character
    /// with it.
    private static func options(_ text: String) -> [String] {
        var options = [String.UnicodeScalarView()]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped: isEscaped = true
            case "," where !isEscaped: options.append(String.UnicodeScalarView())
            default:
                options[options.count - 1].append(scalar)
                isEscaped = false
            }
        }
        return options.map { String($0) }
    }

    private static func escaped(_ value: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if scalar == "\\" || scalar == "," { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}
