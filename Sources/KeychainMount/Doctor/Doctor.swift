package import DeviceState
import Foundation

/// Looks at everything a mount needs, without one and without a passphrase; changes nothing.
package struct Doctor: Sendable {
    let keychain: String
    let mountPoint: String
    let locations: DefaultPaths
    let host: HostInfo
    /// Who is asked about: what root may do needs no permission.
    let user: UInt32

    package init(
        keychain: String, mountPoint: String, locations: DefaultPaths = DefaultPaths(), host: HostInfo = HostInfo(),
        user: UInt32 = geteuid()
    ) {
        self.keychain = keychain
        self.mountPoint = mountPoint
        self.locations = locations
        self.host = host
        self.user = user
    }

    package func examine() -> Diagnosis {
        Diagnosis(findings: mounting + memory + files + machine + mountPointWarnings)
    }
}
