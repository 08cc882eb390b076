/// The item class of a container, synchronizable or not. Its group is the parent of its row.
package struct ContainerScope: Hashable, Sendable {
    package var itemClass: ItemClass
    package var isSynchronizable: Bool

    package init(_ itemClass: ItemClass, isSynchronizable: Bool = false) {
        self.itemClass = itemClass
        self.isSynchronizable = isSynchronizable
    }
}

/// The part of the primary key that the scope directories represent: item class, access group, synchronizable or not.
package struct ContainerKey: Hashable, Sendable {
    package var scope: ContainerScope
    /// kSecAttrAccessGroup, as UTF-8.
    package var accessGroup: [UInt8]

    package var itemClass: ItemClass {
        get { scope.itemClass }
        set { scope.itemClass = newValue }
    }
    package var isSynchronizable: Bool {
        get { scope.isSynchronizable }
        set { scope.isSynchronizable = newValue }
    }

    /// The access group that the root of the mount shows.
    package static let defaultAccessGroup = Array("default".utf8)

    package init(
        itemClass: ItemClass, accessGroup: [UInt8] = ContainerKey.defaultAccessGroup, isSynchronizable: Bool = false
    ) {
        self.init(ContainerScope(itemClass, isSynchronizable: isSynchronizable), accessGroup: accessGroup)
    }

    /// Finds the container with a lookup by name and parent: first its group, unless that is the default group, which
    /// has no row.
    func find(
        _ lookup: (DirectoryName, _ parent: RowID) throws(KeychainFault) -> Directory?
    ) throws(KeychainFault) -> Directory? {
        guard accessGroup != Self.defaultAccessGroup else { return try lookup(.container(scope), .none) }
        guard let group = try lookup(.group(CanonicalName(accessGroup: accessGroup)), .none) else { return nil }
        return try lookup(.container(scope), group.id)
    }

    package init(_ scope: ContainerScope, accessGroup: [UInt8]) {
        self.scope = scope
        self.accessGroup = accessGroup
    }
}

/// The part of the primary key that a service directory represents: all attributes except the account.
package enum ServiceKey: Hashable, Sendable {
    case generic(service: AttributeValue)
    case internet(InternetService)

    /// The item class whose directories have such a key.
    package var itemClass: ItemClass {
        switch self {
        case .generic: .genericPassword
        case .internet: .internetPassword
        }
    }

    /// The key with every default value "not set".
    package var normalized: ServiceKey {
        if case .internet(let service) = self { .internet(service.normalized) } else { self }
    }

    /// The value of an attribute; nil if the key does not contain it or it is not set.
    package subscript(key: AttributeKey) -> AttributeValue? {
        switch (self, key) {
        case (.generic(let service), .service): service
        case (.internet(let service), _): service[key]
        default: nil
        }
    }
}

/// The primary-key attributes of an internet password except the account. Default values are "not set".
package struct InternetService: Hashable, Sendable {
    /// Text or data; empty if not set.
    package var server: AttributeValue
    /// A number or text; nil for the default (0, empty).
    package var `protocol`: AttributeValue?
    /// The port; nil for the default (0).
    package var port: Int64?
    /// The path; nil if empty.
    package var path: AttributeValue?
    /// The security domain; nil if empty.
    package var securityDomain: AttributeValue?
    /// The authentication type; nil if empty.
    package var authenticationType: AttributeValue?

    package init(server: AttributeValue) {
        self.server = server
    }

    /// The key with every default value "not set" and a decimal protocol as a number, as Apple stores it.
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
