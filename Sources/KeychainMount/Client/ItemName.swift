import DeviceState
import Foundation
import Keychain
import LinuxSupport
import SystemPackage

/// The name of an item in a command (contract, E17).
package struct ItemName: Sendable {
    /// The prefix of a name in the default mount, regardless of the working directory.
    static let prefix = "keychain:"
    /// Names of directories in the root, which begin a path from there. The last three are reserved.
    static let fixed = Set(
        ItemClass.allCases.map(\.folderName) + [FixedName.synchronizable, FixedName.accessGroups]
            + ["certificates", "keys", "identities"])

    /// The name as the user has typed it.
    package let text: String
    /// The mount point of names without a path. Symbolic links in it are resolved with the name, without access to a mount.
    private let defaultMountPoint: String
    /// The working directory.
    private let directory: String

    package init(_ text: String) {
        self.init(text, mountPoint: DefaultPaths().mountPoint, directory: FileManager.default.currentDirectoryPath)
    }

    init(_ text: String, mountPoint: String, directory: String) {
        (self.text, self.directory, defaultMountPoint) = (text, directory, mountPoint)
    }

    /// Finds the item's location in a mounted keychain. Reads the kernel's table of mounts, and accesses no mount.
    ///
    /// - Throws: `notMounted`; `impossible` if no item can have this name.
    package func mountedItem() throws(CLIError) -> MountedItem {
        try MountedItem(try resolved(), text: text)
    }

    /// Finds a directory of items, such as a service, in a mounted keychain. Accesses no mount.
    ///
    /// - Throws: `notMounted`; `impossible` for the directory of control files.
    package func mountedFolder() throws(CLIError) -> MountedFolder {
        let name = text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text
        let found = try ItemName(name, mountPoint: defaultMountPoint, directory: directory).resolved()
        return try MountedFolder(found, text: name)
    }

    /// Finds the mount, and the names from its mount point to the file.
    private func resolved() throws(CLIError) -> (mount: MountTable.Entry, names: [String]) {
        guard !text.isEmpty else { throw CLIError(.impossible, "The name of the item is empty.") }
        guard ProgramArguments.areText || !text.unicodeScalars.contains("\u{FFFD}") else {
            throw CLIError(.impossible, "\(shown) is not a possible name: it is not UTF-8.")
        }
        guard let path = try pathInDefaultMount() else {
            guard let found = MountedKeychains.resolve(FilePath(text)) else {
                throw CLIError(
                    .notMounted, "\(shown) is not in a mounted keychain. 'keychainfs mount' mounts one.")
            }
            return found
        }
        guard let found = MountedKeychains.resolve(FilePath(defaultMountPoint + "/" + path)) else {
            throw CLIError(
                .notMounted,
                "No keychain is mounted at \(Printable.text(defaultMountPoint)). Mount one with 'keychainfs mount'.")
        }
        return found
    }

    /// Returns the path of the item or directory that a command shows: a path in any mounted keychain, or else the name in the default
    /// mount.
    ///
    /// - Throws: `impossible` for a name that could lead out of the default mount.
    package func path() throws(CLIError) -> String {
        guard text.hasPrefix(Self.prefix) || MountedKeychains.resolve(FilePath(text)) == nil else { return text }
        let name = text.hasSuffix("/") ? String(text.dropLast()) : text
        let item = ItemName(name, mountPoint: defaultMountPoint, directory: directory)
        return try item.pathInDefaultMount().map { defaultMountPoint + "/" + $0 } ?? text
    }

    /// Returns the path in the default mount; nil if the name is a path of a file.
    ///
    /// - Throws: `impossible` for a path that could lead out of the mount.
    private func pathInDefaultMount() throws(CLIError) -> String? {
        var path = text[...]
        if text.hasPrefix(Self.prefix) {
            path = text.dropFirst(Self.prefix.count)
        } else if Self.isPath(text) || isInKeychain {
            return nil
        }
        // Bytes: for Swift, a '/' and a combining character after it are one character.
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !names.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            throw CLIError(
                .impossible, "\(shown) is not an item: write SERVICE/NAME, without '.', '..' or an empty name.")
        }
        return Self.pathFromRoot(String(path))
    }

    /// Returns the path from the root of the mount.
    static func pathFromRoot(_ path: String) -> String {
        let first = String(decoding: path.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
        return fixed.contains(first) || first == FixedName.control
            ? path : ItemClass.genericPassword.folderName + "/" + path
    }

    /// Whether a name has the form of a path of a file.
    static func isPath(_ name: String) -> Bool {
        ["/", "./", "../"].contains { name.utf8.starts(with: $0.utf8) }
    }

    /// Whether the working directory is in a mounted keychain.
    private var isInKeychain: Bool { MountedKeychains.contain(directory) }

    private var shown: String { Printable.text(text) }
}
