import ArgumentParser
import Keychain
import KeychainCommands
import KeychainMount
import SecretCrypto

/// The argument that names an item (contract, E17).
struct ItemArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE/NAME, a path in a mount, or keychain:SERVICE/NAME.",
            discussion: """
                SERVICE/NAME is generic-passwords/SERVICE/NAME in the default mount (KEYCHAINFS_MOUNT or ~/Keychain); a path that \
                begins with a directory of its root, such as internet-passwords/SERVER/NAME, is that file. Within a mount, it is a path \
                from the working directory. '/' in a name is written as %2F.
                """,
            valueName: "item"))
    var item: String

    var name: ItemName { ItemName(item) }
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the secret of an item, unchanged.",
        usage: "keychainfs get [--wait[=<time>]] <item>",
        discussion: """
            As 'cat' of the item's file, with an exit code for each failure. Nothing is printed unless the complete secret was read.

            Exit codes: 0 printed; 17 the item is not in a mounted keychain; 21 it is damaged; 23 it is locked; 26 there is no such item; \
            29 it is not an item; 30 the daemon does not respond; 31 no permission.
            """)

    @Option(
        name: .customLong("wait"),
        help: ArgumentHelp(
            "While the item is locked or nothing is mounted, try again for 60 s, or for another time: --wait=5m.",
            valueName: "time"))
    var wait: String?
    @OptionGroup var item: ItemArgument

    func validate() throws {
        guard let wait, DurationText.parse(wait) == nil else { return }
        throw ValidationError("--wait needs a duration such as 90s, 5m or 1h30m: '--wait=90s'.")
    }

    func run() throws {
        try reporting(hasSecrets: true, withoutProc: .notMounted) { () throws(CLIError) in
            let reader = ItemReader(item.name, wait: wait.flatMap { DurationText.parse($0) })
            try Console.result(try reader.read())
        }
    }
}

struct AddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an item, or replace its secret.",
        usage: "keychainfs add [<options>] [--generate[=<recipe>]] <item>",
        discussion: """
            At a terminal, the secret is entered twice, without echo. Otherwise it is all of standard input, bytes unchanged. \
            A missing service is created. The item appears with secret and attributes at the same time, or not at all, \
            and is durable when the command returns. An existing item is only replaced with --replace; its old secret is lost then.

            Exit codes: 0 added; 17 not in a mounted keychain of yours; 18 no secret; 19 the disk is full; 20 the item exists; 22 \
            read-only; 23 locked; 29 not a possible name, secret or attribute; 30 the daemon does not respond; 31 no permission.
            """)

    @Option(help: ArgumentHelp("kSecAttrLabel: a name for people.", valueName: "text"))
    var label: String?
    @Option(
        help: ArgumentHelp(
            "kSecAttrAccessible: when the secret can be read, such as WhenUnlocked or AfterFirstUnlock.",
            valueName: "class"),
        completion: .list(ProtectionClass.allCases.map(\.suffix)))
    var accessible: String?
    @Option(
        name: .customLong("attribute"),
        help: ArgumentHelp(
            "Set an attribute: a name as in 'getfattr -d' without 'user.', such as kSecAttrComment=text. Repeatable.",
            valueName: "name=value"))
    var attributeTexts: [String] = []
    @Option(
        help: ArgumentHelp(
            "Generate the secret instead of reading it, also with a recipe: --generate=words:6 (see 'help generate').",
            valueName: "recipe"))
    var generate: String?
    @Flag(help: "Replace the secret of an existing item. Attributes that are not named stay.")
    var replace = false
    @Flag(help: "Drop one line feed at the end of standard input.")
    var noNewline = false
    @OptionGroup var owner: MountOwnerOption
    @OptionGroup var item: ItemArgument

    func validate() throws {
        for text in attributeTexts where ItemAttribute(text) == nil {
            throw ValidationError("--attribute needs NAME=VALUE, such as --attribute kSecAttrComment=text.")
        }
        let names = attributes.map(\.name)
        guard Set(names).count == names.count else {
            throw ValidationError("An attribute is named twice.")
        }
        guard let generate else { return }
        _ = try Recipe(argument: generate)
        if noNewline { throw ValidationError("--generate and --no-newline exclude each other.") }
    }

    func run() throws {
        try reporting(hasSecrets: true, withoutProc: .notMounted) { () throws(CLIError) in
            let item = try item.name.mountedItem()
            let newItem = try NewItem(
                item, attributes: attributes, owner: try owner.mountOwner(), replaces: replace)
            try newItem.check()
            if generate == nil, SecretInput.isTerminal { try newItem.requireUnlocked() }
            try newItem.write(try secret(of: item))
        }
    }

    private func secret(of item: MountedItem) throws(CLIError) -> SecretBytes {
        guard let recipe = generate.flatMap({ Recipe($0) }) else {
            return try SecretInput.read(for: item.shown, dropsNewline: noNewline)
        }
        return try recipe.secret()
    }

    private var attributes: [ItemAttribute] {
        [(AttributeKey.label, label), (.accessible, accessible)].compactMap { key, value in
            value.map { ItemAttribute(key, $0) }
        } + attributeTexts.compactMap { ItemAttribute($0) }
    }
}
