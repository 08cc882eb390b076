import ArgumentParser
import DeviceState
import Keychain
import KeychainMount

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find items by words or attributes, and print their paths.",
        discussion: """
            A word is found in accounts, services, servers, labels and comments, in any case. ATTRIBUTE is a name as in \
            'getfattr -d', without 'user.': kSecAttrLabel, or its end in any case (label), or its four characters (labl). \
            VALUE is the value of the extended attribute; bytes that are not text are 0x and digits. All terms must match. \
            Without a term: all items. All access groups are searched.

            Exit codes: 0 found; 26 nothing found; 23 an item that may be meant is locked; 17 nothing mounted there; \
            30 the daemon does not answer; 64 a term that makes no sense.
            """)

    @Option(
        name: .customLong("mount"),
        help: "Where the keychain is mounted. (default: KEYCHAINFS_MOUNT or ~/Keychain)",
        completion: .directory)
    var mountPoint: String?
    @Option(name: .customLong("class"), help: "One class alone: generic or internet.")
    var itemClass: ClassName?
    @Flag(name: .shortAndLong, help: "Capitals and small letters are the same, in every text but the access group.")
    var ignoreCase = false
    @Flag(help: "All attributes, never the secret, as JSON.")
    var json = false
    @Flag(name: [.customShort("0"), .customLong("null")], help: "End each path with a NUL, for 'xargs -0 -r'.")
    var null = false
    @Argument(
        help: ArgumentHelp("Words, or ATTRIBUTE=VALUE.", valueName: "term"),
        completion: .list(SearchTerm.names.map { $0 + "=" }))
    var terms: [String] = []

    /// The item class as in `user.kSecClass`, without `Password`.
    enum ClassName: String, ExpressibleByArgument, CaseIterable {
        case generic, internet

        var itemClass: ItemClass { self == .generic ? .genericPassword : .internetPassword }
    }

    func validate() throws {
        try requireFileName(mountPoint, of: "mount point")
        if json, null { throw ValidationError("--json and -0 exclude each other.") }
    }

    func run() throws {
        try reporting { () throws(CLIError) in
            let finder = try ItemFinder(
                mountPoint: DefaultPaths.absolute(mountPoint ?? DefaultPaths().mountPoint), terms: terms,
                itemClass: itemClass?.itemClass, ignoresCase: ignoreCase)
            let found = try finder.find()
            if null {
                try Console.result(found.nullTerminated, terminator: "")
            } else {
                try Console.result(json ? found.jsonText : found.text)
            }
        }
    }
}
