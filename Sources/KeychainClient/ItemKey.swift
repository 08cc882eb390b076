/// What tells one item from all others: what its path in a mount is made of.
public struct ItemKey: Hashable, Sendable {
    /// The two kinds of passwords, and what is part of the key of each.
    public enum PasswordClass: Hashable, Sendable {
        case generic(service: String)
        case internet(InternetService)
    }

    public var kind: PasswordClass
    public var account: String
    /// Nil: the keychain's default group.
    public var accessGroup: String?
    /// Whether it is one of the items that synchronize: another item than the same one that does not.
    public var isSynchronizable = false

    public init(_ kind: PasswordClass, account: String, accessGroup: String? = nil, isSynchronizable: Bool = false) {
        self.kind = kind
        self.account = account
        self.accessGroup = accessGroup
        self.isSynchronizable = isSynchronizable
    }

    /// A password of a service: of an application, a Wi-Fi network, anything.
    public static func generic(service: String, account: String) -> ItemKey {
        ItemKey(.generic(service: service), account: account)
    }

    /// A password of a server.
    public static func internet(
        server: String, account: String, protocol: InternetProtocol? = nil, port: Int? = nil, path: String = ""
    ) -> ItemKey {
        let service = InternetService(server: server, protocol: `protocol`, port: port, path: path)
        return ItemKey(.internet(service), account: account)
    }
}

/// What an internet password is for, but for the account.
public struct InternetService: Hashable, Sendable {
    public var server: String
    public var `protocol`: InternetProtocol?
    /// Nil, or 0: none.
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
