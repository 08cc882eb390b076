/// What `keychainfs doctor` finds: whether a keychain can be mounted here, and how well it will be protected.
package struct Diagnosis: JSONText, Sendable {
    package enum Severity: String, Codable, Sendable {
        case ok, warning, problem
    }

    package struct Finding: Codable, Sendable {
        /// Stable, for scripts.
        package let name: String
        package let severity: Severity
        package let message: String
        /// What to do; empty where nothing needs to be done.
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

    /// Whether nothing is broken; warnings do not count.
    package var isHealthy: Bool { findings.allSatisfy { $0.severity != .problem } }

    /// For a person.
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
