/// The complete primary key of an item, which determines its path in a mount.
package struct ItemPrimaryKey: Hashable, Sendable {
    package var account: AttributeValue
    package var service: ServiceKey
    package var container: ContainerKey

    package init(account: AttributeValue, service: ServiceKey, container: ContainerKey) {
        self.account = account
        self.service = service
        self.container = container
    }

    /// Returns the primary key with the attributes of `attributes`; others stay.
    func changed(by attributes: AttributeTerms) -> ItemPrimaryKey {
        var primaryKey = self
        for (key, value) in attributes.values where key.definition.role == .primaryKey {
            switch key {
            case .account: primaryKey.account = value
            case .accessGroup: primaryKey.container.accessGroup = value.bytes ?? []
            default: primaryKey.service = primaryKey.service.setting(key, to: value)
            }
        }
        if case .only(let flag) = attributes.synchronizable { primaryKey.container.isSynchronizable = flag }
        return primaryKey
    }
}

extension ServiceKey {
    /// Returns the key of an item without any primary-key attribute.
    package static func empty(_ itemClass: ItemClass) -> ServiceKey {
        switch itemClass {
        case .genericPassword: .generic(service: .text([]))
        case .internetPassword: .internet(InternetService(server: .text([])))
        }
    }

    /// Returns the key with one attribute changed. A default value is "not set".
    package func setting(_ key: AttributeKey, to value: AttributeValue) -> ServiceKey {
        guard case .internet(var service) = self else { return .generic(service: value) }
        switch key {
        case .server: service.server = value
        case .protocol: service.protocol = value
        case .port:
            if case .number(let port) = value { service.port = port }
        case .path: service.path = value
        case .securityDomain: service.securityDomain = value
        case .authenticationType: service.authenticationType = value
        default: break
        }
        return .internet(service.normalized)
    }
}
