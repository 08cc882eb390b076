import FileSystemCore
import Fuse
import Glibc
package import KeychainConnection
package import KeychainMount
import KeychainTree
import LinuxSupport
package import SecretCrypto
import SystemPackage

/// Adds an item, or replaces its secret (contract, E1).
package struct NewItem: Sendable {
    private let item: MountedItem
    private let attributes: [ItemAttribute]
    private let owner: MountOwner
    /// Whether the secret of an existing item is replaced.
    private let replaces: Bool

    /// The maximum time that a replacement waits for another one of the same item.
    private static let timeout = Duration.seconds(10)
    /// The time during which other programs may remove or create the same names in between.
    private static let raceLimit = Duration.seconds(5)

    /// - Parameter owner: The user whose mount may receive the secret.
    /// - Throws: `impossible` for an attribute that the item cannot have.
    package init(
        _ item: MountedItem, attributes: [ItemAttribute], owner: MountOwner, replaces: Bool
    ) throws(CLIError) {
        (self.item, self.attributes, self.owner, self.replaces) = (item, attributes, owner, replaces)
        for attribute in attributes { try attribute.check(for: item.location.itemClass) }
    }

    /// Fails if the item cannot be added now, before the user enters a secret.
    package func check() throws(CLIError) {
        try item.requireResponse(owner: owner)
        do throws(Errno) {
            let kind = try item.kind()
            if kind == .directory { throw Errno.isDirectory }
            if !replaces { throw Errno.fileExists }
        } catch {
            guard error != .noSuchFileOrDirectory else { return }
            throw failure(error)
        }
    }

    /// Fails if the keychain is locked and the item cannot be created for that reason, before the user enters a secret.
    package func requireUnlocked() throws(CLIError) {
        guard item.isLocked else { return }
        do throws(Errno) {
            let directory = try item.directory()
            try owner.require(directory.mount)
            let file = try directory.create(item.location.name)
            // Removed before its close, it was never an item.
            try? directory.remove(item.location.name)
            try? file.close()
        } catch {
            guard error != .fileExists else { return }
            throw failure(error == .noSuchFileOrDirectory ? .noKey : error)
        }
    }

    /// Writes the secret. It is durable on return.
    package func write(_ secret: borrowing SecretBytes) throws(CLIError) {
        let deadline = ContinuousClock.now + Self.raceLimit
        repeat {
            do throws(Errno) {
                if replaces, try replace(secret) { return }
                try create(secret)
                return
            } catch {
                // Another program has created the item, or removed its directory, since.
                let isRace = error == .noSuchFileOrDirectory || (replaces && error == .fileExists)
                guard isRace else { throw failure(error) }
            }
        } while ContinuousClock.now < deadline
        throw failure(.resourceTemporarilyUnavailable)
    }

    private func failure(_ error: Errno) -> CLIError {
        let consequence =
            error == .ioError
            ? "The old state remains, but the next mount may find the new one."
            : replaces && !attributes.isEmpty ? "The secret was not changed." : "Nothing was changed."
        guard error == .wouldBlock else { return CLIError(error, item: item.shown, consequence: consequence) }
        return CLIError(.failure, "\(item.shown) is being changed by other programs. \(consequence) Try again.")
    }

    // MARK: - A new item

    private func create(_ secret: borrowing SecretBytes) throws(Errno) {
        var parent = ItemDirectory(of: item)
        do throws(Errno) {
            let directory = try parent.open(owner: owner)
            try create(secret, in: directory)
        } catch {
            parent.removeCreated()
            throw error
        }
    }

    /// Creates the item: secret and attributes appear in one commit (F1, F2).
    private func create(_ secret: borrowing SecretBytes, in directory: borrowing OpenDirectory) throws(Errno) {
        let file = try directory.create(item.location.name)
        defer { try? file.close() }
        do throws(Errno) {
            try set(attributes, of: file)
            try write(secret, to: file)
        } catch {
            // Before the close, which would commit an empty item.
            try? directory.remove(item.location.name)
            throw error
        }
    }

    // MARK: - An existing item

    /// Returns false if there is no such item.
    private func replace(_ secret: borrowing SecretBytes) throws(Errno) -> Bool {
        let file: FileDescriptor
        do throws(Errno) {
            file = try item.open(.writeOnly, owner: owner)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return false
        }
        defer { try? file.close() }
        try lock(file)
        try requireName(of: file)
        try set(attributes, of: file)
        do throws(Errno) {
            guard ftruncate(file.rawValue, 0) == 0 else { throw Errno(rawValue: errno) }
            try write(secret, to: file)
            return true
        } catch {
            Self.abandon(file)
            throw error
        }
    }

    /// Discards the staged value, which the close would try to commit again: a refused write marks it as abandoned (F1).
    private static func abandon(_ file: FileDescriptor) {
        _ = try? file.writeAll(toAbsoluteOffset: Int64(TreeOptions.defaultValueLimit), [0])
    }

    /// Excludes other replacements: all writers of an item share one staged value (F3). The close releases the lock.
    private func lock(_ file: FileDescriptor) throws(Errno) {
        let deadline = ContinuousClock.now + Self.timeout
        while flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
            let error = Errno(rawValue: errno)
            guard error == .wouldBlock || error == .interrupted else { throw error }
            guard ContinuousClock.now < deadline else { throw .wouldBlock }
            usleep(20_000)
        }
    }

    /// Another program may have deleted or replaced the item during the wait for the lock. A secret that is written to it then is lost (F6).
    private func requireName(of file: FileDescriptor) throws(Errno) {
        guard (try? Stat(file))?.linkCount != 0 else { throw .noSuchFileOrDirectory }
    }

    // MARK: - Both

    private func set(_ attributes: [ItemAttribute], of file: FileDescriptor) throws(Errno) {
        for attribute in attributes {
            try ExtendedAttributes.set("user." + attribute.name, to: attribute.value, of: file)
        }
    }

    private func write(_ secret: borrowing SecretBytes, to file: FileDescriptor) throws(Errno) {
        do throws(CryptoError) {
            try secret.write(to: file.rawValue)
        } catch {
            throw error.errno
        }
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
