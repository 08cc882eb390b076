import KeychainRPC

/// The conditions of a search; nil matches all values.
public struct ItemFilter: Hashable, Sendable {
    public enum PasswordClass: String, Sendable {
        case generic = "genp"
        case internet = "inet"
    }

    public var kind: PasswordClass
    public var account: String?
    /// Generic passwords only.
    public var service: String?
    /// Internet passwords only.
    public var server: String?
    public var `protocol`: InternetProtocol?
    public var port: Int?
    public var path: String?
    public var label: String?
    public var comment: String?
    /// The access group; nil matches all groups of the program.
    public var accessGroup: String?
    /// Whether matching items synchronize; nil matches both.
    public var isSynchronizable: Bool?

    public init(_ kind: PasswordClass) {
        self.kind = kind
    }

    /// Matches the generic passwords of a service.
    public static func generic(service: String? = nil, account: String? = nil) -> ItemFilter {
        var filter = ItemFilter(.generic)
        (filter.service, filter.account) = (service, account)
        return filter
    }

    /// Matches the internet passwords of a server.
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
