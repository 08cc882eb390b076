import FileSystemCore
package import KeychainMount
import LinuxSupport
import SystemPackage

/// Reads the directories and items below a directory of a mounted keychain. A part that cannot be read is left out, and the rest is
/// complete (contract, E4).
package struct ItemTreeReader {
    private let folder: MountedFolder
    private let innerMounts: [MountTable.Entry]
    /// The first failure that is not a lock, or else that items are locked.
    private var failure: CLIError?

    /// - Returns: The tree, and why it is incomplete.
    package static func read(_ name: ItemName) throws(CLIError) -> (tree: ItemTree, failure: CLIError?) {
        let folder = try name.mountedFolder()
        try folder.requireResponse()
        do throws(Errno) {
            var reader = ItemTreeReader(folder: folder, innerMounts: try folder.innerMounts())
            let tree = ItemTree(name: folder.path, contents: try reader.contents(of: []))
            return (tree, reader.failure)
        } catch .notDirectory {
            throw CLIError(.impossible, "\(folder.shown) is not a directory.")
        } catch {
            throw CLIError(error, item: folder.shown)
        }
    }

    private init(folder: MountedFolder, innerMounts: [MountTable.Entry]) {
        (self.folder, self.innerMounts) = (folder, innerMounts)
    }

    private mutating func contents(of directories: [String]) throws(Errno) -> [ItemTree] {
        let (entries, error) = try folder.entries(below: directories)
        if let error { add(error) }
        var found: [ItemTree] = []
        for entry in entries {
            let names = directories + [entry.name]
            guard !innerMounts.contains(where: { $0.isMounted(at: folder.path(of: names)) }) else { continue }
            if let part = entry.isDirectory ? directory(names) : item(names) { found.append(part) }
        }
        return found
    }

    /// Returns a directory; without contents if they cannot be read, nil if it was removed in the meantime.
    private mutating func directory(_ names: [String]) -> ItemTree? {
        var parts: [ItemTree] = []
        do throws(Errno) {
            parts = try contents(of: names)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            add(error)
        }
        return ItemTree(name: names.last ?? "", contents: parts)
    }

    /// Returns an item; nil if it was removed or locked in the meantime.
    private mutating func item(_ names: [String]) -> ItemTree? {
        var label: String?
        do throws(Errno) {
            label = try folder.label(of: names)
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            add(error)
            guard error != .noKey else { return nil }
        }
        return ItemTree(name: names.last ?? "", label: label)
    }

    private mutating func add(_ error: Errno) {
        guard failure == nil || failure?.exitCode == .locked else { return }
        guard error != .noKey else {
            failure = CLIError(
                .locked,
                "Items of \(folder.shown) are locked and left out. Unlock the keychain with 'keychainfs unlock'.")
            return
        }
        failure = CLIError(error, item: folder.shown)
    }
}
