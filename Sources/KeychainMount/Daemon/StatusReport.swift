package import Keychain

/// The contents of `keychainfs status --json` and `.keychainfs/status`.
package struct StatusReport: JSONText, Sendable {
    /// The part of the status that is specific to this device.
    package struct Device: Codable, Sendable {
        /// Whether the keychain did not know this device when it was opened: it is a copy, or the device key is lost.
        package let isNew: Bool
        /// The number of items that only another device can open (ThisDeviceOnly).
        package let foreignItems: Int
        /// `not-checked`, `first`, `passed` or `accepted`.
        package let rollback: String
        /// `disk-full` or `error`: why this device could not save the state of the keychain; nil if it is saved.
        package let stateFault: StateFault?
    }

    /// The memory of staged values, long values of open descriptors, requests and responses, in bytes.
    package struct StagedMemory: Codable, Sendable {
        package let used: Int
        /// `staged_limit`
        package let limit: Int
    }

    package let pid: Int32
    /// `before-first-unlock`, `unlocked` or `locked`.
    package let state: String
    package let keychain: String
    package let mountpoint: String
    /// The ID of the daemon's mount in /proc/self/mountinfo, which no other view of it has; nil at the end.
    package let mountID: Int?
    package let readOnly: Bool
    package let items: Int
    /// The number of transactions committed since the mount.
    package let commits: Int
    package let format: Int
    /// `unverified`, `verifying`, `verified` or `damaged`: whether the rows are as committed and match the indexes.
    package let integrity: String
    package let hardening: HardeningStatus
    /// The warnings for users.
    package let warnings: [String]
    package let device: Device
    package let automaticLock: AutomaticLockStatus
    package let rekey: RekeyStatus
    package let stagedMemory: StagedMemory
    /// The time limit in seconds after which the kernel aborts the mount if a request has no reply; nil without such a
    /// limit.
    package let requestTimeout: Int?

    init(
        processID: Int32, state: LockState, keychain: String, mountPoint: String, mountID: Int?, isReadOnly: Bool,
        items: Int,
        commits: Int, integrity: IntegrityState, hardening: HardeningStatus, warnings: [String], device: Device,
        automaticLock: AutomaticLockStatus, rekey: RekeyStatus, stagedMemory: StagedMemory, requestTimeout: Int?
    ) {
        pid = processID
        self.state = state.text
        self.keychain = keychain
        mountpoint = mountPoint
        self.mountID = mountID
        readOnly = isReadOnly
        self.items = items
        self.commits = commits
        format = StoreRecord.currentFormat
        self.integrity = integrity.rawValue
        self.hardening = hardening
        self.warnings = warnings
        self.device = device
        self.automaticLock = automaticLock
        self.rekey = rekey
        self.stagedMemory = stagedMemory
        self.requestTimeout = requestTimeout
    }

    package var isUnlocked: Bool { state == LockState.unlocked.text }
    /// The warnings that are about the comparison at the first unlock.
    package var rollbackWarnings: [String] {
        warnings.filter { [Device.replacedUserKeyWarning, Device.firstUseWarning].contains($0) }
    }

    package var isBeforeFirstUnlock: Bool { state == LockState.beforeFirstUnlock.text }

    /// The text for users.
    package var text: String {
        let holds = hardening.measures.filter(\.holds).map(\.text)
        let fails = hardening.measures.filter { !$0.holds }.map(\.text)
        var lines = [
            "keychain:    \(keychain)", "mounted at:  \(mountpoint)\(readOnly ? " (read-only)" : "")",
            "state:       \(state)", "items:       \(items)", "daemon:      process \(pid)",
            "format:      \(format)", "integrity:   \(integrity)",
            "protection:  \(Self.folded(holds))",
        ]
        if let locks = automaticLock.text { lines.append("locks:       \(locks)") }
        lines += device.lines + rekey.lines + stagedMemory.lines
        if let requestTimeout {
            lines.append("time limit:  the kernel ends the mount if a request takes \(requestTimeout) s")
        }
        if !fails.isEmpty { lines.append("NOT in force: \(fails.joined(separator: ", "))") }
        lines += warnings.map { "warning:     \($0)" }
        return lines.joined(separator: "\n")
    }

    /// Returns a list in lines of at most 80 columns, aligned after the label of the first one.
    private static func folded(_ parts: [String]) -> String {
        let label = 13
        var lines: [String] = []
        for part in parts {
            // Includes a comma at the end of the line.
            if let last = lines.last, label + last.count + ", ".count + part.count < 80 {
                lines[lines.count - 1] = last + ", " + part
            } else {
                lines.append(part)
            }
        }
        return lines.joined(separator: ",\n" + String(repeating: " ", count: label))
    }
}

extension StatusReport.Device {
    init(_ keychain: KeychainStore) {
        isNew = !keychain.keys.isDeviceKnown
        foreignItems = (try? keychain.foreignItemCount()) ?? 0
        stateFault = keychain.keys.stateFault.map(StateFault.init)
        rollback =
            switch keychain.keys.rollbackCheck {
            case .none: "not-checked"
            case .first: "first"
            case .passed: "passed"
            case .accepted: "accepted"
            }
    }

    /// Returns the warning about the comparison at the first unlock.
    static func warning(of keys: KeyRing) -> String? {
        if keys.hasReplacedUserKey { return replacedUserKeyWarning }
        return keys.rollbackCheck == .first ? firstUseWarning : nil
    }

    /// The warning when this device has no saved state of the keychain. An attacker who can write to the file and to the state
    /// directory can cause that, with an older copy.
    static let firstUseWarning = """
        the keychain is used on this device for the first time, so that an older copy would not be detected. If you have used it \
        here before, do not trust it: 'keychainfs slot list' shows the slots, and compare it with a backup
        """

    /// The warning after the user has accepted a copy from before its user key was replaced.
    static let replacedUserKeyWarning = """
        an older copy of the keychain was accepted, from before key slots were removed or changed, or before a rekey: those slots \
        open it again. 'keychainfs slot list' shows the slots; remove those slots again
        """

    /// The text for users; empty if nothing is unusual.
    fileprivate var lines: [String] {
        var lines: [String] = []
        if isNew { lines.append("device:      new to this keychain") }
        if foreignItems > 0 {
            lines.append("elsewhere:   \(Counted.items(foreignItems)) that only another device can open")
        }
        if rollback == "accepted" { lines.append("rollback:    a keychain that may be an older copy was accepted") }
        return lines
    }
}

extension StatusReport.StagedMemory {
    /// The text for users; empty while every user has space.
    fileprivate var lines: [String] {
        guard used >= limit / 4 else { return [] }
        return ["memory:      \(used >> 20) of \(limit >> 20) MiB for values that are being written or open"]
    }
}

extension LockState {
    /// The value in JSON.
    package var text: String {
        switch self {
        case .beforeFirstUnlock: "before-first-unlock"
        case .unlocked: "unlocked"
        case .locked: "locked"
        }
    }
}
