/// The primary key of an item, which also determines its path in a mount.
public struct ItemKey: Hashable, Sendable {
    /// The two classes of passwords, with their parts of the key.
    public enum PasswordClass: Hashable, Sendable {
        case generic(service: String)
        case internet(InternetService)
    }

    public var kind: PasswordClass
    public var account: String
    /// The access group; nil for the keychain's default.
    public var accessGroup: String?
    /// Whether the item synchronizes. Two items may differ in this alone.
    public var isSynchronizable = false

    public init(_ kind: PasswordClass, account: String, accessGroup: String? = nil, isSynchronizable: Bool = false) {
        self.kind = kind
        self.account = account
        self.accessGroup = accessGroup
        self.isSynchronizable = isSynchronizable
    }

    /// Creates the key of a service's password: an application, a Wi-Fi network, or any other.
    public static func generic(service: String, account: String) -> ItemKey {
        ItemKey(.generic(service: service), account: account)
    }

    /// Creates the key of a server's password.
    public static func internet(
        server: String, account: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String = ""
    ) -> ItemKey {
        let service = InternetService(server: server, protocol: `protocol`, port: port, path: path)
        return ItemKey(.internet(service), account: account)
    }
}

/// The key of an internet password without its account.
public struct InternetService: Hashable, Sendable {
    public var server: String
    public var `protocol`: InternetProtocol?
    /// The port; nil and 0 both mean that it is not set.
    public var port: Int?
    public var path: String
    public var securityDomain: String
    public var authenticationType: AuthenticationType?

    public init(
        server: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String = "",
        securityDomain: String = "", authenticationType: AuthenticationType? = nil
    ) {
        self.server = server
        self.protocol = `protocol`
        self.port = port
        self.path = path
        self.securityDomain = securityDomain
        self.authenticationType = authenticationType
    }
}
