import Foundation
import Fuse
import SecretCrypto

/// What every process of ours does before anything else.
package enum ProcessSetup {
    /// A descriptor 0, 1 or 2 that is closed would go to the next file that is opened, and what is printed into it.
    ///
    /// Files that it makes are for their owner, who can read them: under a umask such as 0777 he could not, and a device key or
    /// commit number of today would be taken for a damaged one tomorrow.
    ///
    /// `hasSecrets`: no crash report, no core dump, no look into the process (H1).
    package static func run(hasSecrets: Bool) {
        StandardDescriptors.ensure()
        _ = umask(0o077)
        guard hasSecrets else { return }
        CrashReports.disable()
        _ = ProcessHardening.apply()
    }

    /// For a process that mount(8) has started: ``HomeDirectory/correct()``.
    package static func correctHome() { HomeDirectory.correct() }
}
