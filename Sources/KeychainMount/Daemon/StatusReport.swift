package import Keychain

/// What `keychainfs status --json` and `.keychainfs/status` show.
package struct StatusReport: JSONText, Sendable {
    package let pid: Int32
    /// `before-first-unlock`, `unlocked` or `locked`.
    package let state: String
    package let keychain: String
    package let mountpoint: String
    package let readOnly: Bool
    package let items: Int
    /// Transactions committed since the mount.
    package let commits: Int
    package let format: String
    package let hardening: HardeningStatus
    /// What the user should know or change.
    package let warnings: [String]

    package init(
        processID: Int32, state: LockState, keychain: String, mountPoint: String, isReadOnly: Bool, items: Int,
        commits: Int, hardening: HardeningStatus, warnings: [String]
    ) {
        pid = processID
        self.state = state.text
        self.keychain = keychain
        mountpoint = mountPoint
        readOnly = isReadOnly
        self.items = items
        self.commits = commits
        format = "0, may change"
        self.hardening = hardening
        self.warnings = warnings
    }

    /// For a person.
    package var text: String {
        let holds = hardening.measures.filter(\.holds).map(\.text)
        let fails = hardening.measures.filter { !$0.holds }.map(\.text)
        var lines = [
            "keychain:    \(keychain)", "mounted at:  \(mountpoint)\(readOnly ? " (read-only)" : "")",
            "state:       \(state)", "items:       \(items)", "daemon:      process \(pid)",
            "format:      \(format)", "protection:  \(holds.joined(separator: ", "))",
        ]
        if !fails.isEmpty { lines.append("NOT in force: \(fails.joined(separator: ", "))") }
        lines += warnings.map { "warning:     \($0)" }
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
