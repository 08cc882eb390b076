import Foundation
import Keychain
package import KeychainMount
package import SecretCrypto

/// The credential helper of docker (contract, E8; docker-credential-helpers): passwords of registries are items of `internet-passwords` with
/// the label `Docker Credentials`.
package struct DockerCredential: Sendable {
    private let items: CredentialItems

    /// The answer of ``get(_:)`` without an item. Docker compares this text.
    package static let notFound = "credentials not found in native keychain"

    /// - Throws: `notMounted` and `notResponding` (``MountedFolder/requireResponse()``).
    package init() throws(CLIError) { items = try CredentialItems(of: .docker) }

    /// Returns server, user name and password as JSON; nil if the server has no item.
    ///
    /// - Parameter request: The server.
    package func get(_ request: borrowing SecretBytes) throws(CLIError) -> SecretBytes? {
        let server = try Self.server(request)
        let found = try items.matches(in: CredentialItems.Service(server.service))
        guard let match = Self.latest(found) else { return nil }
        let password = try ItemReader.read(match.item)
        guard let user = String(validating: match.account, as: UTF8.self), password.count > 0,
            let answer = try Self.answer(server: server.url, user: user, password, of: match.item)
        else {
            throw CLIError(.impossible, "\(match.item.shown) is empty or not UTF-8, so docker cannot receive it.")
        }
        return answer
    }

    /// Adds the item of a server, or replaces its secret, and deletes the items of the server's other users.
    ///
    /// - Parameter request: JSON with server, user name and password.
    package func store(_ request: consuming SecretBytes) throws(CLIError) {
        guard let request = SecretJSON(request), let url = request.string("ServerURL"),
            let user = request.string("Username"), let password = try Self.password(in: request)
        else {
            throw CLIError(.impossible, "The request is not JSON with the texts ServerURL, Username and Secret.")
        }
        let account = Array(user.utf8)
        guard !account.isEmpty, !account.contains(where: { $0 < 0x20 || $0 == 0x7F }), password.count > 0 else {
            throw CLIError(.impossible, "The request has no user name or no secret, or control characters in the name.")
        }
        let service = CredentialItems.Service(try Self.server(url).service)
        let others = try items.matches(in: service).filter { $0.account != account }
        try items.store(password, service: service, user: account)
        for other in others { try items.remove(other.item) }
    }

    /// Deletes the item of a server. An unknown server is not a failure.
    ///
    /// - Parameter request: The server.
    package func erase(_ request: borrowing SecretBytes) throws(CLIError) {
        let service = CredentialItems.Service(try Self.server(request).service)
        for match in try items.matches(in: service) { try items.remove(match.item) }
    }

    /// Returns the user names by server, as JSON.
    package func list() throws(CLIError) -> String {
        var users: [String: String] = [:]
        let found = try items.matches(where: { DockerServer($0) != nil }, user: nil, needsAll: true)
        for (service, matches) in found {
            guard let server = DockerServer(service.key), let match = Self.latest(matches) else { continue }
            users[server.url] = String(validating: match.account, as: UTF8.self)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding texts does not fail.
        return String(decoding: (try? encoder.encode(users)) ?? Data(), as: UTF8.self)
    }

    /// A server has one item, unless two programs have stored one at the same time.
    private static func latest(_ matches: [CredentialItems.Match]) -> CredentialItems.Match? {
        matches.max { $0.modificationTime < $1.modificationTime }
    }

    private static func answer(
        server: String, user: String, _ password: borrowing SecretBytes, of item: MountedItem
    ) throws(CLIError) -> SecretBytes? {
        do throws(CryptoError) {
            return try SecretJSON.encode(
                [("ServerURL", server), ("Username", user)], secret: password, named: "Secret")
        } catch {
            throw CLIError(error, reading: item.shown)
        }
    }

    private static func password(in request: borrowing SecretJSON) throws(CLIError) -> SecretBytes? {
        do throws(CryptoError) {
            return try request.secret("Secret")
        } catch {
            throw CLIError(error, reading: "the password")
        }
    }

    private static func server(_ request: borrowing SecretBytes) throws(CLIError) -> DockerServer {
        let octets = request.bytes.octets
        let text = String(validating: octets.indices.map { octets[$0] }, as: UTF8.self)
        return try server((text ?? "").trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private static func server(_ url: String) throws(CLIError) -> DockerServer {
        guard let server = DockerServer(url) else {
            throw CLIError(
                .impossible, "The address of the server is not a host with or without scheme, port and path.")
        }
        return server
    }
}
