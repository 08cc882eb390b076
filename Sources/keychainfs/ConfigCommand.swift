import ArgumentParser
import KeychainMount

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the settings and where they come from.",
        discussion: """
            Settings are lines 'NAME = VALUE' in ~/.config/keychainfs/config, and '#' begins a comment line:
              keychain       the keychain of commands without --keychain: a name, or a path
              mount-point    where it is mounted; KEYCHAINFS_MOUNT takes precedence
              lock-after     as the options of 'mount', like the next three
              lock-at-most
              lock-on
              mount-options  as 'mount -o'
              clear-after    as of 'copy'
            Options of a command take precedence. A mount reads them when it begins. A path begins with '/' or '~/'.

            Exit codes: 0; 64 a line is not valid; 18 other users may change the file. Every command that uses settings ends so, except that \
            'lock', 'unmount' and 'doctor' warn and use the valid lines.
            """)

    @Flag(help: "As JSON, for scripts.")
    var json = false

    func run() throws {
        try reporting { () throws(CLIError) in
            let report = SettingsReport()
            try Console.result(json ? report.jsonText : report.text)
        }
    }
}
