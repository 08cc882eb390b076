import FileSystemCore
import Fuse
import KeychainMount
import LinuxSupport
import SystemPackage

/// A trial to list, read, write or create a file of a keychain, up to the first change.
struct AccessTrial {
    /// The free space in bytes below which a disk counts as full. A commit needs some pages of 4 KiB in the file and in its log.
    private static let leastSpace = 64 << 10

    private let name: ItemName
    /// The file, of any kind.
    private let file: MountedFolder
    private let refusal: AccessRefusal

    /// - Throws: `notMounted`, `noAnswer`; `impossible` for a control file.
    init(of name: ItemName) throws(CLIError) {
        self.name = name
        file = try name.mountedFolder()
        try file.requireResponse()
        refusal = AccessRefusal(of: file)
    }

    /// Returns a sentence about what is possible.
    ///
    /// - Throws: The failure of the first operation that is not.
    func result() throws(CLIError) -> String {
        let access: FileAccess
        do throws(Errno) {
            access = try FileAccess(of: file.path)
        } catch {
            // A name that no item can have: the reason is more exact than the errno.
            let item = try name.mountedItem()
            guard error == .noSuchFileOrDirectory else { throw refusal.failure(error) }
            throw try creation(of: item)
        }
        return access.isDirectory ? try listing() : try readingAndWriting()
    }

    private func listing() throws(CLIError) -> String {
        do throws(Errno) {
            let (entries, error) = try file.entries()
            if let error { throw error }
            let contents = entries.isEmpty ? "is empty" : "has \(Counted.text(entries.count, "entry", "entries"))"
            return "\(file.shown) is a directory, not an item. It can be listed, and \(contents)."
        } catch {
            throw refusal.failure(error)
        }
    }

    private func readingAndWriting() throws(CLIError) -> String {
        let item = try name.mountedItem()
        do throws(CLIError) {
            _ = try ItemReader.read(item)
        } catch {
            throw refusal.detailed(error)
        }
        do throws(Errno) {
            let opened = try item.open(.writeOnly)
            try? opened.close()
            try requireSpace()
        } catch {
            let reason = refusal.failure(error)
            throw CLIError(reason.exitCode, "\(file.shown) can be read, but not written. \(reason.message)")
        }
        return "\(file.shown) can be read and written."
    }

    /// Returns the failure of the creation, or that the item does not exist and can be created.
    private func creation(of item: MountedItem) throws(CLIError) -> CLIError {
        let missing = file.pathsOnTheWay.dropLast().first { !exists($0) }
        guard let parent = file.pathsOnTheWay.last(where: exists) else {
            return refusal.failure(.noSuchFileOrDirectory)
        }
        do throws(Errno) {
            try FileAccess.require(.write, of: parent)
            try FileAccess.require(.search, of: parent)
            guard !refusal.isReadOnly else { throw .readOnlyFileSystem }
            try requireSpace()
        } catch {
            let reason = refusal.failure(error, at: parent)
            return CLIError(reason.exitCode, "\(file.shown) does not exist, and cannot be created. \(reason.message)")
        }
        if let locked = refusal.newItem(in: parent) { return locked }
        let directory =
            missing == nil ? "" : " Its directory does not exist either: other programs need it first (mkdir)."
        return CLIError(
            .notFound, "\(file.shown) does not exist. It can be created: 'keychainfs add' does that.\(directory)")
    }

    private func exists(_ path: String) -> Bool { (try? FileAccess(of: path)) != nil }

    private func requireSpace() throws(Errno) {
        let space = try FileSystemStatistics(ofPath: file.mountPoint).availableBytes
        guard space >= Self.leastSpace else { throw .noSpace }
    }
}
