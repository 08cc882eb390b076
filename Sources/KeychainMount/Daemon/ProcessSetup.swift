import Foundation
import Fuse
import LinuxSupport
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

    /// The setup of a process that reads secrets and replaces itself by a program of the user (execve(2)). Changes nothing that
    /// the program would inherit: the umask, a limit, the environment, a closed descriptor.
    package static func runBeforeProgram() {
        StandardDescriptors.ensure(closesOnExec: true)
        CrashReports.disable(alsoInChildren: false)
        ProcessHardening.denyAccess()
    }

    /// Requires `/proc`. Without it no mount, no lock and no process is visible, and the result of a command would be wrong:
    /// "not mounted", or a copy of a file that a daemon is writing.
    package static func requireProc(_ exitCode: ExitCode = .failure) throws(CLIError) {
        guard !ProcFileSystem.isMounted else { return }
        throw CLIError(
            exitCode, "/proc is not mounted here, where commands find mounts and processes: 'mount -t proc proc /proc'."
        )
    }

    /// For a process that was started by mount(8): ``HomeDirectory/correct()``.
    package static func correctHome() { HomeDirectory.correct() }
}
