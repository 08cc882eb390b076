package import Keychain
package import SecretCrypto

/// What `keychainfs status --json` and `.keychainfs/status` show.
package struct StatusReport: JSONText, Sendable {
    /// Whether the measures of design section 6 really hold.
    package struct Hardening: Codable, Sendable {
        package let memoryLocked: Bool
        package let undumpable: Bool
        package let coreDumpsDisabled: Bool
    }

    package let pid: Int32
    /// `before-first-unlock`, `unlocked` or `locked`.
    package let state: String
    package let keychain: String
    package let mountpoint: String
    package let readOnly: Bool
    package let items: Int
    /// Transactions committed since the mount.
    package let commits: Int
    package let format: Int
    /// `unverified`, `verifying`, `verified` or `damaged`: whether the rows are those that were committed.
    package let integrity: String
    package let hardening: Hardening

    package init(
        processID: Int32, state: LockState, keychain: String, mountPoint: String, isReadOnly: Bool, items: Int,
        commits: Int, integrity: IntegrityState, hardening: ProcessHardening.Report
    ) {
        pid = processID
        self.state = state.text
        self.keychain = keychain
        mountpoint = mountPoint
        readOnly = isReadOnly
        self.items = items
        self.commits = commits
        format = StoreRecord.currentFormat
        self.integrity = integrity.rawValue
        self.hardening = Hardening(
            memoryLocked: hardening.memoryLocked, undumpable: hardening.undumpable,
            coreDumpsDisabled: hardening.coreDumpsDisabled)
    }

    /// For a person.
    package var text: String {
        let protection = [
            (hardening.memoryLocked, "memory locked"), (hardening.undumpable, "cannot be traced"),
            (hardening.coreDumpsDisabled, "no core dumps"),
        ]
        let holds = protection.filter(\.0).map(\.1)
        let fails = protection.filter { !$0.0 }.map(\.1)
        var lines = [
            "keychain:    \(keychain)", "mounted at:  \(mountpoint)\(readOnly ? " (read-only)" : "")",
            "state:       \(state)", "items:       \(items)", "daemon:      process \(pid)",
            "format:      \(format)", "integrity:   \(integrity)",
            "protection:  \(holds.joined(separator: ", "))",
        ]
        if !fails.isEmpty { lines.append("NOT in force: \(fails.joined(separator: ", "))") }
        return lines.joined(separator: "\n")
    }
}

extension LockState {
    /// As scripts read it.
    package var text: String {
        switch self {
        case .beforeFirstUnlock: "before-first-unlock"
        case .unlocked: "unlocked"
        case .locked: "locked"
        }
    }
}
