import KeychainConnection
import KeychainMount
import LinuxSupport
import SystemPackage

/// The directory in which an item is created. Creates missing ones: the service, and the access group.
struct ItemDirectory {
    private let item: MountedItem
    /// The index of the first directory that was created; nil if none was missing.
    private var firstCreated: Int?

    init(of item: MountedItem) { self.item = item }

    /// Opens the directory.
    ///
    /// - Throws: The errno of openat(2) and mkdirat(2); of ``MountOwner/require(_:)`` before anything is created.
    mutating func open(owner: MountOwner) throws(Errno) -> OpenDirectory {
        var directory = try OpenDirectory(at: item.base)
        try owner.require(directory.mount)
        for (index, name) in item.directories.enumerated() {
            if let existing = try Self.existing(name, in: directory) {
                directory = existing
                continue
            }
            if try Self.make(name, in: directory), firstCreated == nil { firstCreated = index }
            directory = try directory.directory(name)
        }
        // Another file system may be mounted at one of them.
        try owner.require(directory.mount)
        return directory
    }

    /// Removes the directories that were created and are empty.
    mutating func removeCreated() {
        guard let firstCreated else { return }
        for index in (firstCreated..<item.directories.count).reversed() {
            guard let parent = try? item.directory(depth: index),
                (try? parent.removeDirectory(item.directories[index])) != nil
            else { return }
        }
        self.firstCreated = nil
    }

    private static func existing(
        _ name: String, in directory: borrowing OpenDirectory
    ) throws(Errno) -> OpenDirectory? {
        do throws(Errno) {
            return try directory.directory(name)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Returns false if another program has created the directory since.
    private static func make(_ name: String, in directory: borrowing OpenDirectory) throws(Errno) -> Bool {
        do throws(Errno) {
            try directory.makeDirectory(name)
            return true
        } catch {
            guard error == .fileExists else { throw error }
            return false
        }
    }
}
