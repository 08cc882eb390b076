import ArgumentParser
import DeviceState
import Foundation
import KeychainCommands
import KeychainMount

struct TreeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Print services and items as a tree, with their labels.",
        discussion: """
            A label is printed after the name if it differs from it. Locked items are left out, and the command ends with 23, as 'ls'. \
            A flat list, also of items with certain attributes: 'keychainfs search'.

            Exit codes: 0 printed; 23 items are locked and left out; 17 not in a mounted keychain; 21 something is damaged; 26 there is no \
            such directory; 29 it is not a directory; 30 the daemon does not respond; 31 no permission.
            """)

    @Flag(help: "A JSON object with name, label and contents. A directory has contents, an item has none.")
    var json = false
    @Argument(
        help: ArgumentHelp(
            "SERVICE, another directory of a mount, or keychain:SERVICE. (default: the mount, KEYCHAINFS_MOUNT or ~/Keychain)",
            valueName: "folder"))
    var folder: String?

    func run() throws {
        try reporting(withoutProc: .notMounted) { () throws(CLIError) in
            let name = ItemName(folder ?? DefaultPaths.absolute(DefaultPaths().mountPoint))
            let (tree, failure) = try ItemTreeReader.read(name)
            let environment = ProcessInfo.processInfo.environment
            try Console.result(json ? tree.jsonText : tree.text(TreeLines { environment[$0] }))
            if let failure { throw failure }
        }
    }
}
