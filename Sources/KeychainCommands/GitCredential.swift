import FileSystemCore
import Keychain
import KeychainConnection
package import KeychainMount
import LinuxSupport
package import SecretCrypto
import SystemPackage

/// The credential helper of git (contract, E8; gitcredentials(7)): passwords are items of `internet-passwords`.
package struct GitCredential: ~Copyable {
    private let request: CredentialRequest
    private let folder: MountedFolder

    /// A matching item.
    private struct Match {
        let item: MountedItem
        let account: [UInt8]
        let modificationTime: Duration
    }

    /// The label of the items of docker-credential-keychainfs, which are not git's.
    static let dockerLabel = "Docker Credentials"

    package init(_ request: consuming CredentialRequest) throws(CLIError) {
        let folder = try ItemName(Self.path(of: [])).mountedFolder()
        try folder.requireResponse()
        self.folder = folder
        self.request = request
    }

    /// Returns the lines with user name and password of the item that was changed last; nil if no item matches.
    package func get() throws(CLIError) -> SecretBytes? {
        guard let match = try matches().max(by: { $0.modificationTime < $1.modificationTime }) else { return nil }
        let password = try ItemReader.read(match.item)
        let octets = password.bytes.octets
        guard octets.count > 0, !octets.indices.contains(where: { [0, 0x0A, 0x0D].contains(octets[$0]) }) else {
            throw CLIError(
                .impossible, "\(match.item.shown) is empty or contains a line break, which git cannot receive.")
        }
        return try Self.lines(account: match.account, password)
    }

    /// Adds the item, or replaces its secret. An equal secret is not written again.
    package func store() throws(CLIError) {
        guard let password = try givenPassword(), password.count > 0, let user = request.user, !user.isEmpty else {
            return
        }
        let service = request.path.map { request.service.setting(.path, to: .blob($0)) } ?? request.service
        let directory = CanonicalName(service: service.normalized), name = CanonicalName(account: .blob(user))
        let item = try ItemName(Self.path(of: [directory, name].map(Self.text))).mountedItem()
        do throws(CLIError) {
            if try ItemReader.read(item).isEqual(to: password) { return }
            try requireNotDocker(directory, name, item)
        } catch  where error.exitCode == .notFound {
            // A new item.
        }
        try NewItem(item, attributes: [], owner: .caller, replaces: true).write(password)
    }

    /// Deletes the items that match; if git sends a password, only those that contain it.
    package func erase() throws(CLIError) {
        for match in try matches() {
            try match.item.requireResponse(owner: .caller)
            guard try isMeant(match.item) else { continue }
            do throws(Errno) {
                try match.item.remove()
            } catch .noSuchFileOrDirectory {
                continue
            } catch {
                throw CLIError(error, item: match.item.shown, consequence: "It was not deleted.")
            }
        }
    }

    /// Whether git has sent the item's password, or none.
    private func isMeant(_ item: MountedItem) throws(CLIError) -> Bool {
        guard let given = try givenPassword() else { return true }
        return try ItemReader.read(item).isEqual(to: given)
    }

    private func givenPassword() throws(CLIError) -> SecretBytes? {
        do throws(CryptoError) {
            return try request.givenPassword()
        } catch {
            throw CLIError(error, reading: "the password")
        }
    }

    private func requireNotDocker(
        _ directory: CanonicalName, _ name: CanonicalName, _ item: MountedItem
    ) throws(CLIError) {
        guard (try? folder.label(of: [directory, name].map(Self.text))) != Self.dockerLabel else {
            throw CLIError(.exists, "\(item.shown) belongs to docker, and was not changed.")
        }
    }

    // MARK: - Matching items

    private func matches() throws(CLIError) -> [Match] {
        var found: [Match] = []
        do throws(Errno) {
            let (directories, error) = try folder.entries()
            for directory in directories where directory.isDirectory && isMatching(directory.name) {
                found += try matches(in: directory.name)
            }
            // If items are left out because they are locked, one of them may be meant.
            if let error, found.isEmpty { throw error }
        } catch {
            throw CLIError(error, item: folder.shown)
        }
        return found
    }

    private func isMatching(_ directory: String) -> Bool {
        let name = CanonicalName(typed: Array(directory.utf8))
        guard case .key(let service)? = try? name.service(in: .internetPassword) else { return false }
        let keys: [AttributeKey] = [.server, .protocol, .port]
        guard keys.allSatisfy({ service[$0] == request.service[$0] }) else { return false }
        return request.path == nil || service[.path]?.bytes == request.path
    }

    private func matches(in directory: String) throws(Errno) -> [Match] {
        let (entries, error) = try folder.entries(below: [directory])
        if let error { throw error }
        var found: [Match] = []
        for entry in entries where !entry.isDirectory {
            let names = [directory, entry.name]
            guard case .key(let value)? = try? CanonicalName(typed: Array(entry.name.utf8)).account(),
                let account = value.bytes, !account.isEmpty, request.user == nil || request.user == account,
                !account.contains(where: { [0, 0x0A, 0x0D].contains($0) }),
                try folder.label(of: names) != Self.dockerLabel,
                let item = try? ItemName(Self.path(of: names)).mountedItem()
            else { continue }
            let time = try FileAccess(of: folder.path(of: names)).modificationTime
            found.append(Match(item: item, account: account, modificationTime: time))
        }
        return found
    }

    // MARK: - Names and output

    private static func path(of names: [String]) -> String {
        "keychain:" + ([ItemClass.internetPassword.folderName] + names).joined(separator: "/")
    }

    /// Returns a canonical name, which is UTF-8, as text.
    private static func text(_ name: CanonicalName) -> String { String(decoding: name.bytes, as: UTF8.self) }

    private static func lines(
        account: [UInt8], _ password: borrowing SecretBytes
    ) throws(CLIError) -> SecretBytes {
        let beginning = Array("username=".utf8) + account + Array("\npassword=".utf8)
        do throws(CryptoError) {
            var lines = try SecretBytes(count: beginning.count + password.count + 1)
            for (index, byte) in beginning.enumerated() { lines.set(byte, at: index) }
            var output = lines.mutableBytes
            _ = output.write(password.bytes, at: beginning.count)
            lines.set(UInt8(ascii: "\n"), at: lines.count - 1)
            return lines
        } catch {
            throw CLIError(error, reading: "the password")
        }
    }
}
