package import Keychain

extension StatusReport {
    /// How far a rekey has come since the mount.
    package struct RekeyStatus: JSONText, Hashable, Sendable {
        /// `none`, `running`, `waiting` or `finished`.
        package let state: String
        /// What it waits for: `unlock`, `disk-full`, `read-only` or `error`; nil if it does not wait.
        package let reason: String?
        /// Items that are sealed under the new keys.
        package let done: Int
        /// Items that there were to seal anew.
        package let total: Int
        /// Items that could not be opened: the old keys of their classes had to stay.
        package let left: Int

        package init(_ progress: RekeyProgress) {
            (done, total, left) = (progress.done, progress.total, progress.left)
            switch progress.phase {
            case .idle: (state, reason) = ("none", nil)
            case .running: (state, reason) = ("running", nil)
            case .finished: (state, reason) = ("finished", nil)
            case .waiting(let error): (state, reason) = ("waiting", Self.reason(error))
            }
        }

        private static func reason(_ error: KeychainFault) -> String {
            switch error {
            case .interactionNotAllowed: "unlock"
            case .diskFull: "disk-full"
            case .readOnly: "read-only"
            default: "error"
            }
        }

        package var isUnderWay: Bool { state == "running" || state == "waiting" }

        /// For a person; nothing where nothing is to be said.
        var lines: [String] {
            switch state {
            case "running": ["rekey:       \(done) of \(total) items"]
            case "waiting": ["rekey:       waiting (\(reason ?? "")), \(done) of \(total) items"]
            case "finished" where left > 0: ["rekey:       done, but \(left) items could not be opened: see 'check'"]
            default: []
            }
        }
    }
}
