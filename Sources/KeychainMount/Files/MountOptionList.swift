import KeychainTree
import LinuxSupport

/// What `-o` was given, as mount.fuse3(8) and mount(8) write it.
package struct MountOptionList: Hashable, Sendable {
    /// Who reaches the mount besides the mounting user.
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
    /// Mounts without unlocking: Always items alone answer until somebody unlocks.
    package private(set) var startsLocked = false
    /// The daemon sleeps as soon as there is nothing to do, instead of asking the kernel again for a moment.
    package private(set) var neverSpins = false
    /// The most memory that staged values and the like take, in bytes.
    package private(set) var stagedLimit = TreeOptions.defaultStagedLimit
    /// What mount(8) shows as the source; the keychain's path if nil.
    package private(set) var source: String?
    /// Where a mount that nobody watches (fstab) has its passphrase from.
    package private(set) var passphraseFile: String?
    /// The same of a key file; only one of them is ever set.
    package private(set) var keyFile: String?
    /// When the mounted keychain locks by itself.
    package private(set) var lockPolicy = LockPolicy()

    /// Each text holds options separated by commas, later ones over earlier ones; one that is not known is an error,
    /// unless `isSloppy` (mount -s).
    package init(_ texts: [String] = [], isSloppy: Bool = false) throws(CLIError) {
        for option in texts.flatMap(Self.options) {
            let parts = option.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String($0) }
            let value = parts.count == 2 ? parts[1] : nil
            guard try set(parts[0], value, option) || Self.isForOthers(parts[0]) || isSloppy else {
                throw Self.unknown(parts[0])
            }
        }
        guard !startsLocked || (passphraseFile == nil && keyFile == nil) else {
            throw CLIError(
                .usage, "'locked' unlocks nothing: leave out 'passphrase_file=' and 'key_file=', or 'locked'.")
        }
    }

    /// The same for another process, what it is unlocked with apart.
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

    /// Returns false for an option that is not of ours.
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

    /// Commands know a mounted keychain, and give it secrets, by its type.
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

    /// A quarter of it is what another user gets: at least one value.
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
            The mount option '\(Printable.text(name))' is not known. There are: \(names.joined(separator: ", ")), and what \
            fstab(5) has for every file system.
            """)
    }

    // MARK: Options for others

    /// What mount(8), systemd and mount.fuse read themselves, or what holds anyway: reading changes no time, every
    /// close is durable, set-user-ID programs and devices have no effect (`nosuid` and `nodev` are always on).
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

    /// A comma that belongs to a value has a backslash before it, as mount.fuse3(8) says; so has a backslash.
    ///
    /// By scalars, not by characters: a comma ends an option whatever sign it would make one character with.
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
