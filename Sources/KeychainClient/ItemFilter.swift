import KeychainRPC

/// Which items are meant; nil: any.
public struct ItemFilter: Hashable, Sendable {
    public enum PasswordClass: String, Sendable {
        case generic = "genp"
        case internet = "inet"
    }

    public var kind: PasswordClass
    public var account: String?
    /// Of generic passwords.
    public var service: String?
    /// Of internet passwords.
    public var server: String?
    public var `protocol`: InternetProtocol?
    public var port: Int?
    public var path: String?
    public var label: String?
    public var comment: String?
    /// Nil: any of the program's groups.
    public var accessGroup: String?
    /// Nil: both those that synchronize and those that do not.
    public var isSynchronizable: Bool?

    public init(_ kind: PasswordClass) {
        self.kind = kind
    }

    /// Generic passwords of a service.
    public static func generic(service: String? = nil, account: String? = nil) -> ItemFilter {
        var filter = ItemFilter(.generic)
        (filter.service, filter.account) = (service, account)
        return filter
    }

    /// Internet passwords of a server.
    public static func internet(server: String? = nil, account: String? = nil) -> ItemFilter {
        var filter = ItemFilter(.internet)
        (filter.server, filter.account) = (server, account)
        return filter
    }

    var query: [String: PropertyList] {
        var query: [String: PropertyList] = ["class": .string(kind.rawValue)]
        query["acct"] = account.map { .string($0) }
        query["svce"] = service.map { .string($0) }
        query["srvr"] = server.map { .string($0) }
        query["ptcl"] = `protocol`.map { .string($0.rawValue) }
        query["port"] = port.map { .integer(Int64($0)) }
        query["path"] = path.map { .string($0) }
        query["labl"] = label.map { .string($0) }
        query["icmt"] = comment.map { .string($0) }
        query["agrp"] = accessGroup.map { .string($0) }
        query["sync"] = isSynchronizable.map { .boolean($0) } ?? .string("syna")
        return query
    }
}
