package import DeviceState
import Foundation

/// Checks all requirements of a mount, without a mount and without a passphrase. Changes nothing.
package struct Doctor: Sendable {
    let file: KeychainPath
    let mountPoint: String
    let locations: DefaultPaths
    let host: HostInfo
    /// The user who is checked; root needs no permission.
    let user: UInt32

    package init(
        keychain: KeychainPath, mountPoint: String, locations: DefaultPaths = DefaultPaths(),
        host: HostInfo = HostInfo(),
        user: UInt32 = geteuid()
    ) {
        file = keychain
        self.mountPoint = mountPoint
        self.locations = locations
        self.host = host
        self.user = user
    }

    var keychain: String { file.path }

    package func examine() -> Diagnosis {
        Diagnosis(findings: mounting + memory + files + machine + mountPointWarnings)
    }
}
