import ArgumentParser
import Glibc
import KeychainCommands
import KeychainMount
import LinuxSupport

struct OTPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "otp", abstract: "Print the one-time code of an item.",
        discussion: """
            The item contains a line that begins with 'otpauth://totp/', such as the link in a QR code, or a Base32 key of 16 to 128 \
            characters alone. At a terminal, the seconds that the code stays valid are printed on standard error. The clock must be correct.

            Exit codes: those of 'get'; 29 also if the item contains no such key.
            """)

    @OptionGroup var item: ItemArgument

    func run() throws {
        try reporting(hasSecrets: true, withoutProc: .notMounted) { () throws(CLIError) in
            let code = try OneTimeCode.code(of: item.name, at: SystemClock.now.seconds)
            try Console.result(code.text)
            if isatty(STDERR_FILENO) == 1 { Console.message("valid for \(code.secondsLeft) s") }
        }
    }
}
