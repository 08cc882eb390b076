package import KeychainMount
import SecretCrypto

/// The sources of the variables of `run` (contract, E6).
package struct EnvironmentSources: Sendable {
    /// The value of an option `--env NAME=ITEM`.
    package struct Variable: Sendable {
        let name: VariableName
        let item: ItemName

        /// Returns nil if it is not NAME=ITEM.
        package init?(_ text: String) {
            guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), let name = VariableName(String(text[..<sign]))
            else { return nil }
            self.name = name
            item = ItemName(String(text[text.utf8.index(after: sign)...]))
        }
    }

    private let variables: [Variable]
    private let folders: [ItemName]
    private let files: [String]

    /// - Parameters:
    ///   - folders: Directories of items that have names of variables.
    ///   - files: The paths of environment files.
    package init(variables: [Variable], folders: [ItemName], files: [String]) {
        (self.variables, self.folders, self.files) = (variables, folders, files)
    }

    /// Reads all secrets. Of several values of a variable only the used one is read: of an option, or else of a file, or else of a
    /// folder; among these the last.
    package func environment() throws(CLIError) -> Environment {
        var loaded: [LoadedEnvironmentFile] = []
        for file in files { loaded.append(try LoadedEnvironmentFile(path: file)) }
        var environment = try Environment()
        for variable in variables.reversed() where !environment.contains(variable.name) {
            try environment.add(variable.name, from: variable.item)
        }
        for file in loaded.reversed() { try file.add(to: &environment) }
        for folder in folders.reversed() { try Self.add(folder, to: &environment) }
        return environment
    }

    private static func add(_ name: ItemName, to environment: inout Environment) throws(CLIError) {
        let folder = try name.mountedFolder()
        try folder.requireResponse()
        for name in try folder.fileNames() {
            guard let variable = VariableName(name), !environment.contains(variable) else { continue }
            try environment.add(variable, from: try folder.item(name))
        }
    }
}

extension Environment {
    /// Adds a variable with the secret of an item, without one line feed at its end.
    mutating func add(_ name: VariableName, from item: ItemName) throws(CLIError) {
        let item = try item.mountedItem()
        try item.requireResponse()
        try add(name, from: item)
    }

    fileprivate mutating func add(_ name: VariableName, from item: MountedItem) throws(CLIError) {
        // One byte more for the line feed.
        var value = try ItemReader.read(item, limit: Self.valueLimit(name) + 1)
        if value.count > 0, value.bytes.octets[value.count - 1] == UInt8(ascii: "\n") {
            value.truncate(to: value.count - 1)
        }
        guard value.count > 0 else {
            throw CLIError(.impossible, "\(item.shown) is empty: it contains no value of a variable.")
        }
        try add(name, value, from: item.shown)
    }
}
