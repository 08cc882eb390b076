/// An item that a query has found, and where it lies.
struct ItemMatch: Hashable, Sendable {
    let item: Item
    let service: ServiceKey
    let container: ContainerKey

    var primaryKey: ItemPrimaryKey { ItemPrimaryKey(account: item.account, service: service, container: container) }

    /// The value of an attribute as kSecReturnAttributes gives it; nil for what is not set, or not given.
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

    /// What kSecReturnAttributes gives: every attribute that has a value, under its constant's.
    var attributes: [String: QueryValue] {
        var found: [String: QueryValue] = [:]
        for key in AttributeKey.allCases where key.definition.classes.contains(container.itemClass) {
            found[key.definition.code] = value(of: key)
        }
        return found
    }
}

extension ItemQuery {
    /// The match that an item is; nil for one that the query does not ask for.
    func match(_ item: Item, in directory: Directory, _ container: ContainerKey?) -> ItemMatch? {
        guard admits(item), case .service(let service) = directory.key, admits(service), let container,
            matches(container)
        else { return nil }
        return ItemMatch(item: item, service: service, container: container)
    }
}

/// What a search comes upon.
enum SearchRow: Sendable {
    case match(ItemMatch)
    /// A row that is not what was written, and would match as far as that can be told.
    case damaged(RowID)
    /// The row of the name that was asked for, of which only another device has the keys (contract, L6).
    case foreign(RowID)
}
