internal import DeviceState
internal import Foundation
internal import Fuse
internal import KeychainConnection

/// The candidates for the current word of an incomplete command line, as a shell reads them.
package struct CompletionResult: Sendable {
    package enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// The time limit in milliseconds, because a user is waiting. There are no candidates after it.
    private static let timeout = 800

    private let shell: Shell
    /// The current word without quotes.
    private let current: String
    /// The start of the word that the shell keeps: candidates are printed without it.
    private let kept: String
    private let query: CompletionQuery

    /// - Parameters:
    ///   - words: bash: the command line up to the cursor, and the part of it that bash replaces. zsh: the words before the current
    ///     one and the current one, without quotes. fish: the words before the current one, and the current one as it was typed.
    ///     The name of the program is the first word of the line.
    ///   - tree: The commands of the program.
    /// - Returns: nil for a line with an expansion, or without a word.
    package init?(_ shell: Shell, _ words: [String], tree: CommandTree) {
        self.shell = shell
        guard let last = words.last else { return nil }
        switch shell {
        case .bash:
            guard words.count == 2, let line = ShellWords(words[0]), line.rawCurrent.hasSuffix(last) || last.isEmpty,
                let start = ShellWords(String(line.rawCurrent.dropLast(last.count)))
            else { return nil }
            (current, kept) = (line.current, start.current)
            query = CompletionQuery(words: Array(line.words.dropFirst()), current: current, tree: tree)
        case .zsh:
            current = last
            kept = Self.untilSeparator(last)
            query = CompletionQuery(words: Array(words.dropFirst().dropLast()), current: current, tree: tree)
        case .fish:
            guard let word = ShellWords(last) else { return nil }
            (current, kept) = (word.current, "")
            query = CompletionQuery(words: Array(words.dropFirst().dropLast()), current: current, tree: tree)
        }
    }

    /// Returns the word up to the last slash or the equals sign of an option: zsh replaces the part after it.
    private static func untilSeparator(_ word: String) -> String {
        if let slash = word.lastIndex(of: "/") { return String(word[...slash]) }
        guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return "" }
        return String(word[...sign])
    }

    /// The candidates, in a form that each shell splits quickly:
    /// - bash: a line for each, in which the byte 1 represents a newline.
    /// - zsh: NUL after each field; first `paths` or `words`, then each candidate, for `words` with its description.
    /// - fish: NUL after each; a description follows a tab.
    package var output: String {
        let found = candidates.filter {
            $0.word.utf8.starts(with: current.utf8) && $0.word.utf8.starts(with: kept.utf8)
        }
        let areWords = found.contains { !$0.description.isEmpty }
        let start = shell != .zsh || found.isEmpty ? "" : areWords ? "words\0" : "paths\0"
        return start + found.compactMap { field($0, areWords: areWords) }.joined()
    }

    private func field(_ completion: Completion, areWords: Bool) -> String? {
        // Compared by bytes, because names are not normalized (T2), and splitting 10,000 names into characters takes 30
        // ms.
        guard let word = String(completion.word.utf8.dropFirst(kept.utf8.count).dropLast(bashSlash(completion.word)))
        else { return nil }
        switch shell {
        case .bash where word.utf8.contains(1): return nil
        case .bash where word.utf8.contains(UInt8(ascii: "\n")): return word.replacing("\n", with: "\u{1}") + "\n"
        case .bash: return word + "\n"
        case .zsh: return areWords ? "\(word)\0\(completion.description)\0" : word + "\0"
        case .fish where word.utf8.contains(UInt8(ascii: "\t")): return nil
        case .fish: return completion.description.isEmpty ? word + "\0" : "\(word)\t\(completion.description)\0"
        }
    }

    /// The number of bytes that bash adds to a word: it also shows a list of directories with a slash after each. Not to the name of an
    /// item without a path.
    private func bashSlash(_ word: String) -> Int {
        let item = String(word.dropFirst(prefix.count))
        let isPath =
            ![.item, .folder, .assignedItem].contains(query) || ItemCompletion.isPath(item, directory: directory)
        return shell == .bash && isPath && word.utf8.count > 1 && word.utf8.last == UInt8(ascii: "/") ? 1 : 0
    }

    /// The complete words, of which the shell keeps the start.
    private var candidates: [Completion] {
        let option = prefix
        let typed = String(current.dropFirst(option.count))
        switch query {
        case .words(let words): return words.map { Completion(option + $0.word, $0.description) }
        case .folder:
            return list(["items", typed]).filter { $0.utf8.last == UInt8(ascii: "/") }.map { Completion(option + $0) }
        case .assignedItem where !option.hasSuffix("="): return []
        case .item, .assignedItem: return list(["items", typed]).map { Completion(option + $0) }
        case .path: return list(["paths", typed]).map { Completion(option + $0) }
        case .keychain: return list(["keychains", typed]).map { Completion(option + $0) }
        case .mountPoint:
            let mounted = MountedKeychains.ofCaller
            let directories = list(["directories", typed]).filter { !mounted.contains(String($0.dropLast())) }
            return (mounted + directories).map { Completion(option + $0) }
        case .slot(let keychain):
            return list(["slots", keychain ?? ""]).map { line in
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                return Completion(option + parts[0], parts.count > 1 ? parts[1] : "")
            }
        case .nothing: return []
        }
    }

    /// The start of the word that stays before each candidate: `--option=`, and `NAME=` before an item.
    private var prefix: String {
        let option = current.hasPrefix("--") ? Self.untilSign(current) : ""
        return query == .assignedItem ? option + Self.untilSign(current.dropFirst(option.count)) : option
    }

    private static func untilSign(_ text: some StringProtocol) -> String {
        text.firstIndex(of: "=").map { String(text[...$0]) } ?? ""
    }

    private var directory: String { FileManager.default.currentDirectoryPath }

    /// Runs a child process, because a file system whose daemon hangs may block it.
    private func list(_ arguments: [String]) -> [String] {
        let output = BoundedOutput.ofThisProgram(
            arguments: ["complete", "list"] + arguments, milliseconds: Self.timeout)
        return (output ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the candidates in the child process, each with a NUL; empty after a failure.
    package static func list(_ arguments: [String]) -> String {
        let home = DefaultPaths().home
        let found: [String]
        switch (arguments.first, arguments.count) {
        case ("paths", 2): found = PathCompletion.candidates(for: arguments[1], home: home)
        case ("items", 2):
            found = ItemCompletion.candidates(
                for: arguments[1], mountPoint: DefaultPaths().mountPoint,
                directory: FileManager.default.currentDirectoryPath, home: home)
        case ("directories", 2):
            found = PathCompletion.candidates(for: arguments[1], home: home, onlyDirectories: true)
        case ("keychains", 2): found = keychains(for: arguments[1], home: home)
        case ("slots", 2): found = slots(keychain: arguments[1], home: home)
        default: found = []
        }
        return found.map { $0 + "\0" }.joined()
    }

    /// Returns names and directories, or the files in the typed directory: a file without a `/` is not named by its name.
    private static func keychains(for typed: String, home: String) -> [String] {
        guard !typed.contains("/") else { return PathCompletion.candidates(for: typed, home: home) }
        return KeychainPath.names(in: DefaultPaths())
            + PathCompletion.candidates(for: typed, home: home, onlyDirectories: true)
    }

    /// - Parameter keychain: A name, or a path, which may start with `~/`; empty for the default one.
    private static func slots(keychain: String, home: String) -> [String] {
        let path = keychain.hasPrefix("~/") ? home + keychain.dropFirst() : keychain
        guard path.isEmpty || KeychainPath.isPathOrName(path) else { return [] }
        let slots = SlotCommandRunner(
            keychain: KeychainPath(named: path.isEmpty ? nil : path), mountPoint: nil, owner: .caller,
            showMessage: { _ in })
        guard let list = try? slots.list() else { return [] }
        return list.slots.map { "\($0.id) \($0.kind)" }
    }
}
