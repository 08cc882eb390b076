/// The possible kinds of the current word of a command line.
enum CompletionQuery: Hashable, Sendable {
    /// A word of this list, each with a description, which may be empty.
    case words([Completion])
    /// A file or a directory.
    case path
    /// An item.
    case item
    /// A directory of items.
    case folder
    /// A variable and an item, `NAME=ITEM`.
    case assignedItem
    /// The name or the path of a keychain, or a directory.
    case keychain
    /// A directory, or the mount point of a keychain.
    case mountPoint
    /// The number of a key slot of this keychain; nil for the default one.
    case slot(keychain: String?)
    case nothing
}

/// A candidate for the current word.
struct Completion: Hashable, Sendable {
    let word: String
    let description: String

    init(_ word: String, _ description: String = "") {
        self.word = word
        self.description = description
    }
}

extension CompletionQuery {
    /// - Parameters:
    ///   - words: The words before the current one, without the name of the program, without quotes.
    ///   - current: The current word up to the cursor. For `--option=value`, `value` is queried.
    init(words: [String], current: String, tree: CommandTree) {
        var words = words
        if words.first == "help" {
            words.removeFirst()
            self = Self.help(words, tree)
            return
        }
        var line = CommandLineState(tree)
        for word in words { guard line.consume(word) else { self = .nothing; return } }
        self = line.query(current)
    }

    private static func help(_ words: [String], _ tree: CommandTree) -> CompletionQuery {
        var command = tree
        for word in words {
            guard let next = command.shownSubcommands.first(where: { $0.commandName == word }) else { return .nothing }
            command = next
        }
        return .words(command.shownSubcommands.map { Completion($0.commandName, $0.abstract ?? "") })
    }
}

/// The part of a command line before the current word.
private struct CommandLineState {
    private var command: CommandTree
    /// An option whose value is the next word.
    private var pending: CommandTree.Argument?
    private var positionals: [String] = []
    private var keychain: String?
    private var hasOnlyArguments = false

    init(_ tree: CommandTree) {
        command = tree
    }

    /// Returns false if the command does not exist.
    mutating func consume(_ word: String) -> Bool {
        if let option = pending {
            pending = nil
            if option.isCalled("--keychain") { keychain = word }
        } else if !hasOnlyArguments, word == "--" {
            hasOnlyArguments = true
        } else if !hasOnlyArguments, word.hasPrefix("-"), word.count > 1 {
            consumeOption(word)
        } else if !(command.subcommands ?? []).isEmpty {
            guard let next = command.subcommands?.first(where: { $0.commandName == word }) else { return false }
            command = next
        } else {
            positionals.append(word)
            // The options after a program are the program's.
            hasOnlyArguments = hasOnlyArguments || ProgramWords.ofProgram[command.commandName] != nil
        }
        return true
    }

    private mutating func consumeOption(_ word: String) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let option = option(parts[0]), option.takesValue else { return }
        if parts.count == 1 {
            if OptionalValues.ofProgram[command.commandName]?[parts[0]] == nil { pending = option }
        } else if option.isCalled("--keychain") {
            keychain = parts[1]
        }
    }

    private func option(_ name: String) -> CommandTree.Argument? {
        command.shownArguments.first { $0.isCalled(name) }
    }

    func query(_ current: String) -> CompletionQuery {
        if let pending { return value(of: pending, current) }
        if !hasOnlyArguments, current.hasPrefix("-") {
            if let sign = current.firstIndex(of: "="), let option = option(String(current[..<sign])) {
                return value(of: option, String(current[current.index(after: sign)...]))
            }
            return .words(options)
        }
        if !command.shownSubcommands.isEmpty {
            return .words(command.shownSubcommands.map { Completion($0.commandName, $0.abstract ?? "") })
        }
        let arguments = command.positionals
        guard positionals.count < arguments.count else {
            return arguments.last.map { $0.isRepeating ? value(of: $0, current) : .nothing } ?? .nothing
        }
        return value(of: arguments[positionals.count], current)
    }

    /// The options of the command, by their long names if they have one.
    private var options: [Completion] {
        command.shownArguments.filter { $0.kind != "positional" }.compactMap { argument in
            let name = argument.names?.first { $0.kind == "long" } ?? argument.names?.first
            return name.map { Completion($0.text, argument.abstract ?? "") }
        }
    }

    private func value(of argument: CommandTree.Argument, _ current: String) -> CompletionQuery {
        switch argument.valueName {
        case "id": return .slot(keychain: keychain)
        case "item", "path": return .item
        case "folder": return .folder
        case "name=item": return .assignedItem
        case "keychain", "keychain-or-mount-point": return .keychain
        case "options": return .words(Self.mountOptions(after: current).map { Completion($0) })
        default: break
        }
        switch argument.completionKind {
        case .file: return .path
        case .directory: return .mountPoint
        case .list(let values): return .words(values.map { Completion($0) })
        case .other, nil: return .nothing
        }
    }

    /// Returns mount options. The options before the last comma are kept.
    private static func mountOptions(after current: String) -> [String] {
        let prefix = current.lastIndex(of: ",").map { String(current[...$0]) } ?? ""
        return MountOptionList.names.map { name in
            prefix + (name.firstIndex(of: "=").map { String(name[...$0]) } ?? name)
        }
    }
}
