package import Keychain

extension StatusReport {
    /// The progress of a rekey since the mount.
    package struct RekeyStatus: JSONText, Hashable, Sendable {
        /// `none`, `running`, `waiting` or `finished`.
        package let state: String
        /// The reason for waiting: `unlock`, `verification`, `rows-differ`, `disk-full`, `read-only`, `other-device` or `error`;
        /// nil if it does not wait.
        package let reason: String?
        /// The number of items that are sealed under the new keys.
        package let done: Int
        /// The number of items to reseal.
        package let total: Int
        /// The number of items that could not be opened, so that the old keys of their classes had to stay.
        package let left: Int

        package init(_ progress: RekeyProgress) {
            (done, total, left) = (progress.done, progress.total, progress.left)
            switch progress.phase {
            case .idle: (state, reason) = ("none", nil)
            case .running: (state, reason) = ("running", nil)
            case .finished: (state, reason) = ("finished", nil)
            case .verifying: (state, reason) = ("waiting", Self.verification)
            case .onOtherDevice: (state, reason) = ("waiting", Self.otherDevice)
            case .waiting(let error): (state, reason) = ("waiting", Self.reason(error))
            }
        }

        private static func reason(_ error: KeychainFault) -> String {
            switch error {
            case .interactionNotAllowed: "unlock"
            case .rowsDiffer: rowsDiffer
            case .diskFull: "disk-full"
            case .readOnly: "read-only"
            default: "error"
            }
        }

        private static let otherDevice = "other-device"
        private static let verification = "verification"
        static let rowsDiffer = "rows-differ"

        /// Whether this device runs a rekey that continues without the user's consent, so that another one is not started.
        package var isUnderWay: Bool {
            state == "running" || state == "waiting" && reason != Self.otherDevice && reason != Self.rowsDiffer
        }

        /// Whether it is running, or about to.
        var isRunning: Bool { state == "running" || state == "waiting" && reason == Self.verification }

        /// The text for users; empty if there is nothing to report.
        var lines: [String] {
            switch state {
            case "running": ["rekey:       \(done) of \(Counted.items(total))"]
            case "waiting" where reason == Self.otherDevice:
                ["rekey:       another device has begun it; 'keychainfs rekey' completes it here"]
            case "waiting" where reason == Self.rowsDiffer:
                [
                    "rekey:       stopped, \(done) of \(Counted.items(total)): rows differ; 'keychainfs rekey' continues it"
                ]
            case "waiting":
                ["rekey:       waiting (\(reason ?? "")), \(done) of \(Counted.items(total))"]
            case "finished" where left > 0:
                ["rekey:       done, but \(Counted.items(left)) could not be opened: see 'check'"]
            default: []
            }
        }
    }
}
