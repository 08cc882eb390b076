import KeychainRPC

extension ItemKey {
    /// A query that matches only this item, and with which it is added.
    func query(defaultGroup: String) -> [String: PropertyList] {
        var query = kind.attributes
        query["acct"] = .string(account)
        query["agrp"] = .string(accessGroup ?? defaultGroup)
        query["sync"] = .boolean(isSynchronizable)
        return query
    }

    /// Creates the key of an item with these attributes; nil if a part of the key is not text.
    init?(_ attributes: [String: PropertyList]) {
        guard let kind = PasswordClass(attributes), let account = attributes["acct"]?.text else { return nil }
        self.init(
            kind, account: account, accessGroup: attributes["agrp"]?.text,
            isSynchronizable: attributes["sync"]?.integer == 1)
    }
}

extension ItemKey.PasswordClass {
    /// All attributes of the key. Unset ones have the default that represents them.
    fileprivate var attributes: [String: PropertyList] {
        switch self {
        case .generic(let service): ["class": .string("genp"), "svce": .string(service)]
        case .internet(let service): service.attributes
        }
    }

    fileprivate init?(_ attributes: [String: PropertyList]) {
        if let service = attributes["svce"] {
            guard let service = service.text else { return nil }
            self = .generic(service: service)
        } else {
            guard let service = InternetService(attributes) else { return nil }
            self = .internet(service)
        }
    }
}

extension InternetService {
    fileprivate var attributes: [String: PropertyList] {
        [
            "class": .string("inet"), "srvr": .string(server), "ptcl": .string(`protocol`?.rawValue ?? ""),
            "port": .integer(Int64(port ?? 0)), "path": .string(path), "sdmn": .string(securityDomain),
            "atyp": .string(authenticationType?.rawValue ?? ""),
        ]
    }

    fileprivate init?(_ attributes: [String: PropertyList]) {
        guard let server = attributes["srvr"]?.text, let path = (attributes["path"] ?? .string("")).text,
            let domain = (attributes["sdmn"] ?? .string("")).text
        else { return nil }
        self.init(
            server: server, protocol: attributes["ptcl"]?.name.map(InternetProtocol.init(rawValue:)),
            port: attributes["port"]?.integer.flatMap { $0 == 0 ? nil : Int($0) }, path: path, securityDomain: domain,
            authenticationType: attributes["atyp"]?.name.map(AuthenticationType.init(rawValue:)))
    }
}

extension PropertyList {
    /// The text of a string, or of data that is UTF-8. A key treats both alike.
    var text: String? {
        switch self {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The text, or the digits of a number; nil for the default of both.
    fileprivate var name: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): number == 0 ? nil : String(number)
        default: nil
        }
    }
}
