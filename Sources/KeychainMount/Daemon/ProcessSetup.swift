import Foundation
import Fuse
import SecretCrypto

/// The initial setup of every process of this program.
package enum ProcessSetup {
    /// Opens closed standard descriptors, which the next opened file would get otherwise, and sets the umask. New files
    /// must be readable for their owner: under a umask such as 0777, a device key or commit number would later count as
    /// damaged.
    ///
    /// - Parameter hasSecrets: Whether to disable crash reports and core dumps, and deny other processes access (H1).
    package static func run(hasSecrets: Bool) {
        StandardDescriptors.ensure()
        _ = umask(0o077)
        guard hasSecrets else { return }
        CrashReports.disable()
        _ = ProcessHardening.apply()
    }

    /// For a process that was started by mount(8): ``HomeDirectory/correct()``.
    package static func correctHome() { HomeDirectory.correct() }
}
