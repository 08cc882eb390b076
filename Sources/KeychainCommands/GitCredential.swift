import FileSystemCore
import Keychain
package import KeychainMount
package import SecretCrypto

/// The credential helper of git (contract, E8; gitcredentials(7)): passwords are items of `internet-passwords`.
package struct GitCredential: ~Copyable {
    private let request: CredentialRequest
    private let items: CredentialItems

    /// - Throws: `notMounted` and `notResponding` (``MountedFolder/requireResponse()``).
    package init(_ request: consuming CredentialRequest) throws(CLIError) {
        items = try CredentialItems(of: .git)
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
        try items.store(password, service: CredentialItems.Service(service.normalized), user: user)
    }

    /// Deletes the items that match; if git sends a password, only those that contain it.
    package func erase() throws(CLIError) {
        for match in try matches() {
            if try isMeant(match.item) { try items.remove(match.item) }
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

    /// The items that match and whose account git can receive.
    private func matches() throws(CLIError) -> [CredentialItems.Match] {
        let (meant, path) = (request.service, request.path)
        let found = try items.matches(
            where: { service in
                [.server, .protocol, .port].allSatisfy { service[$0] == meant[$0] }
                    && (path == nil || service[.path]?.bytes == path)
            }, user: request.user, needsAll: false)
        return found.flatMap(\.items).filter { match in !match.account.contains { [0, 0x0A, 0x0D].contains($0) } }
    }

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
