/// An item that a query has found, with its directory and container.
struct ItemMatch: Hashable, Sendable {
    let item: Item
    let service: ServiceKey
    let container: ContainerKey

    var primaryKey: ItemPrimaryKey { ItemPrimaryKey(account: item.account, service: service, container: container) }

    /// Returns the value of an attribute for kSecReturnAttributes; nil if it is not set or not returned.
    func value(of key: AttributeKey) -> QueryValue? {
        switch key {
        case .accessGroup: .text(container.accessGroup)
        case .synchronizable: .number(container.isSynchronizable ? 1 : 0)
        case .accessible: .string(item.protection.code)
        case .accessControl:
            item.accessControlFlags == 0
                ? nil : .accessControl(AccessControl(protection: item.protection, flags: item.accessControlFlags))
        case .tombstone: nil
        case _ where key.isOfService: QueryValue(service.value(of: key))
        default: item.value(of: key).map { QueryValue($0) }
        }
    }

    /// The attributes for kSecReturnAttributes: all that have a value, by the value of their constant.
    var attributes: [String: QueryValue] {
        var found: [String: QueryValue] = [:]
        for key in AttributeKey.allCases where key.definition.classes.contains(container.itemClass) {
            found[key.definition.code] = value(of: key)
        }
        return found
    }
}

extension ItemQuery {
    /// Returns the match of an item; nil if the query does not match it.
    func match(_ item: Item, in directory: Directory, _ container: ContainerKey?) -> ItemMatch? {
        guard matches(item), case .service(let service) = directory.key, matches(service), let container,
            matches(container)
        else { return nil }
        return ItemMatch(item: item, service: service, container: container)
    }
}

/// A row that a search has found.
enum SearchRow: Sendable {
    case match(ItemMatch)
    /// A row that is not authentic, and would match as far as that can be determined.
    case damaged(RowID)
    /// The row with the requested name, whose keys only another device has (contract, L6).
    case foreign(RowID)
}
