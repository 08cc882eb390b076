/// The result of `keychainfs doctor`: whether a keychain can be mounted on this machine, and how well it is protected.
package struct Diagnosis: JSONText, Sendable {
    package enum Severity: String, Codable, Sendable {
        case ok, warning, problem
    }

    package struct Finding: Codable, Sendable {
        /// The name for scripts, which never changes.
        package let name: String
        package let severity: Severity
        package let message: String
        /// The remedy; empty if none is necessary.
        package let advice: String

        init(_ name: String, _ severity: Severity, _ message: String, _ advice: String = "") {
            self.name = name
            self.severity = severity
            self.message = message
            self.advice = advice
        }
    }

    package let findings: [Finding]

    init(findings: [Finding]) {
        self.findings = findings
    }

    /// Whether there is no problem; warnings do not count.
    package var isHealthy: Bool { findings.allSatisfy { $0.severity != .problem } }

    /// The text for users.
    package var text: String {
        findings.map { finding in
            let mark =
                switch finding.severity {
                case .ok: "ok      "
                case .warning: "warning "
                case .problem: "PROBLEM "
                }
            let advice = finding.advice.isEmpty ? "" : "\n          " + finding.advice
            return mark + finding.message + advice
        }.joined(separator: "\n")
    }
}
