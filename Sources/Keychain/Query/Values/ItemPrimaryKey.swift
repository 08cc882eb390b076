/// The whole primary key of an item: what its path in a mount is made of.
package struct ItemPrimaryKey: Hashable, Sendable {
    package var account: AttributeValue
    package var service: ServiceKey
    package var container: ContainerKey

    package init(account: AttributeValue, service: ServiceKey, container: ContainerKey) {
        self.account = account
        self.service = service
        self.container = container
    }

    /// The place after what `attributes` say of it; what they leave out stays.
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
    /// The key of an item of which no part is given.
    package static func empty(_ itemClass: ItemClass) -> ServiceKey {
        switch itemClass {
        case .genericPassword: .generic(service: .text([]))
        case .internetPassword: .internet(InternetService(server: .text([])))
        }
    }

    /// The same key with one attribute changed; a default value is "not set".
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
