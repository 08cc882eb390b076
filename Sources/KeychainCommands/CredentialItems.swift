import FileSystemCore
import Keychain
import KeychainConnection
import KeychainMount
import LinuxSupport
import SecretCrypto
import SystemPackage

/// The items of `internet-passwords` in the default mount that a credential helper uses (contract, E8).
struct CredentialItems: Sendable {
    /// The program whose passwords the items are. The label decides, because docker and git name the same hosts.
    enum Client: Sendable {
        case git
        case docker

        /// The label of the items of docker.
        private static let label = "Docker Credentials"

        func owns(_ label: String?) -> Bool { (label == Self.label) == (self == .docker) }

        /// The attributes of a new item.
        fileprivate var attributes: [ItemAttribute] {
            self == .git ? [] : [ItemAttribute(.label, Self.label)]
        }
    }

    /// An item of the client.
    struct Match: Sendable {
        let item: MountedItem
        let account: [UInt8]
        let modificationTime: Duration
    }

    /// A service with its directory.
    struct Service: Sendable {
        let name: String
        let key: ServiceKey

        /// The service of this key, which need not exist.
        init(_ key: ServiceKey) { (name, self.key) = (CredentialItems.text(CanonicalName(service: key)), key) }

        /// Returns nil for a name that is not canonical.
        fileprivate init?(directory name: String) {
            let typed = CanonicalName(typed: Array(name.utf8))
            guard case .key(let key)? = try? typed.service(in: .internetPassword) else { return nil }
            (self.name, self.key) = (name, key)
        }
    }

    private let client: Client
    private let folder: MountedFolder

    /// - Throws: `notMounted` and `notResponding` (``MountedFolder/requireResponse()``).
    init(of client: Client) throws(CLIError) {
        let folder = try ItemName(Self.path(of: [])).mountedFolder()
        try folder.requireResponse()
        (self.client, self.folder) = (client, folder)
    }

    // MARK: - Searching

    /// Returns the client's items in all services that are chosen.
    ///
    /// - Parameter needsAll: Whether the items that can be read are a failure if others are locked. None of them are always one: an item
    ///   that is left out may be meant.
    func matches(
        where isChosen: (ServiceKey) -> Bool, user: [UInt8]?, needsAll: Bool
    ) throws(CLIError) -> [(service: Service, items: [Match])] {
        var found: [(Service, [Match])] = []
        do throws(Errno) {
            let (directories, error) = try folder.entries()
            for directory in directories where directory.isDirectory {
                guard let service = Service(directory: directory.name), isChosen(service.key) else { continue }
                let items = try available(in: service, user: user)
                if !items.isEmpty { found.append((service, items)) }
            }
            if let error, needsAll || found.isEmpty { throw error }
        } catch {
            throw CLIError(error, item: folder.shown)
        }
        return found
    }

    /// Returns the client's items of a service, in no order: none if there is no such service.
    ///
    /// - Throws: `locked` if services are left out because they are locked: one of them may be meant.
    func matches(in service: Service) throws(CLIError) -> [Match] {
        do throws(Errno) {
            do throws(Errno) {
                return try available(in: service, user: nil)
            } catch .noSuchFileOrDirectory {
                if let error = try folder.entries().error { throw error }
                return []
            }
        } catch {
            throw CLIError(error, item: folder.shown)
        }
    }

    private func available(in service: Service, user: [UInt8]?) throws(Errno) -> [Match] {
        let (entries, error) = try folder.entries(below: [service.name])
        if let error { throw error }
        var found: [Match] = []
        for entry in entries where !entry.isDirectory {
            let names = [service.name, entry.name]
            guard case .key(let value)? = try? CanonicalName(typed: Array(entry.name.utf8)).account(),
                let account = value.bytes, !account.isEmpty, user == nil || user == account,
                client.owns(try folder.label(of: names)),
                let item = try? ItemName(Self.path(of: names)).mountedItem()
            else { continue }
            let time = try FileAccess(of: folder.path(of: names)).modificationTime
            found.append(Match(item: item, account: account, modificationTime: time))
        }
        return found
    }

    // MARK: - Changes

    /// Adds the item, or replaces its secret. An equal secret is not written again.
    ///
    /// - Throws: `exists` if the item belongs to another program.
    func store(_ password: borrowing SecretBytes, service: Service, user: [UInt8]) throws(CLIError) {
        let names = [service.name, Self.text(CanonicalName(account: .blob(user)))]
        let item = try ItemName(Self.path(of: names)).mountedItem()
        do throws(CLIError) {
            if try ItemReader.read(item).isEqual(to: password), isOwn(names) { return }
            guard isOwn(names) else {
                throw CLIError(.exists, "\(item.shown) belongs to another program, and was not changed.")
            }
        } catch  where error.exitCode == .notFound {
            // A new item.
        }
        try NewItem(item, attributes: client.attributes, owner: .caller, replaces: true).write(password)
    }

    private func isOwn(_ names: [String]) -> Bool { client.owns(try? folder.label(of: names)) }

    /// Deletes an item, which another program may have deleted.
    func remove(_ item: MountedItem) throws(CLIError) {
        try item.requireResponse(owner: .caller)
        do throws(Errno) {
            try item.remove()
        } catch .noSuchFileOrDirectory {
            return
        } catch {
            throw CLIError(error, item: item.shown, consequence: "It was not deleted.")
        }
    }

    // MARK: - Names

    private static func path(of names: [String]) -> String {
        "keychain:" + ([ItemClass.internetPassword.folderName] + names).joined(separator: "/")
    }

    /// Returns a canonical name, which is UTF-8, as text.
    private static func text(_ name: CanonicalName) -> String { String(decoding: name.bytes, as: UTF8.self) }
}
