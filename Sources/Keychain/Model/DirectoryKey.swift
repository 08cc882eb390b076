/// Where the directories of one class live: the part of the primary key that the upper levels of the tree stand for.
package struct ContainerKey: Hashable, Sendable {
    package var itemClass: ItemClass
    /// kSecAttrAccessGroup, as UTF-8.
    package var accessGroup: [UInt8]
    package var isSynchronizable: Bool

    /// The access group that the root of the mount shows.
    package static let defaultAccessGroup = Array("default".utf8)

    package init(
        itemClass: ItemClass, accessGroup: [UInt8] = ContainerKey.defaultAccessGroup, isSynchronizable: Bool = false
    ) {
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.isSynchronizable = isSynchronizable
    }
}

/// The part of the primary key that a service directory stands for: everything but the account.
package enum ServiceKey: Hashable, Sendable {
    case generic(service: AttributeValue)
    case internet(InternetService)

    /// The class whose directories have such a key.
    package var itemClass: ItemClass {
        switch self {
        case .generic: .genericPassword
        case .internet: .internetPassword
        }
    }

    /// The same key with every default value "not set".
    package var normalized: ServiceKey {
        if case .internet(let service) = self { .internet(service.normalized) } else { self }
    }

    /// The value of the attribute that it holds; nil for what it does not hold or what is not set.
    package subscript(key: AttributeKey) -> AttributeValue? {
        switch (self, key) {
        case (.generic(let service), .service): service
        case (.internet(let service), _): service[key]
        default: nil
        }
    }
}

/// The primary-key attributes of an internet password, but for the account. Default values are "not set".
package struct InternetService: Hashable, Sendable {
    /// Text or data; empty if there is none.
    package var server: AttributeValue
    /// Number or text; nil for the default (0, empty).
    package var `protocol`: AttributeValue?
    /// nil for the default (0).
    package var port: Int64?
    /// nil where empty.
    package var path: AttributeValue?
    /// nil where empty.
    package var securityDomain: AttributeValue?
    /// nil where empty.
    package var authenticationType: AttributeValue?

    package init(server: AttributeValue) {
        self.server = server
    }

    /// The same key with every default value "not set" and a decimal protocol a number, as Apple stores them.
    package var normalized: InternetService {
        var service = self
        service.protocol = service.protocol.flatMap { Self.nonDefault(AttributeValue.decimal($0)) }
        service.port = service.port == 0 ? nil : service.port
        service.path = service.path.flatMap(Self.nonDefault)
        service.securityDomain = service.securityDomain.flatMap(Self.nonDefault)
        service.authenticationType = service.authenticationType.flatMap(Self.nonDefault)
        return service
    }

    private static func nonDefault(_ value: AttributeValue) -> AttributeValue? {
        value == .number(0) || value.bytes?.isEmpty == true ? nil : value
    }

    package subscript(key: AttributeKey) -> AttributeValue? {
        switch key {
        case .server: server
        case .protocol: self.protocol
        case .port: port.map { .number($0) }
        case .path: path
        case .securityDomain: securityDomain
        case .authenticationType: authenticationType
        default: nil
        }
    }
}
