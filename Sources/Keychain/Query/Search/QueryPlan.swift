/// The parts of the primary key that a query contains, which are looked up by tag instead of being compared.
struct QueryPlan: Hashable, Sendable {
    /// The only directory of each container, if the query contains all attributes of a directory.
    let service: ServiceKey?
    /// The only name in each directory.
    let account: CanonicalName?

    init(_ query: ItemQuery) {
        let terms = query.attributes.values
        let parts = AttributeKey.allCases.filter {
            $0.isOfService && $0.definition.classes.contains(query.itemClass)
        }
        // Tags depend on the case of names.
        guard !query.match.isCaseInsensitive else {
            (service, account) = (nil, nil)
            return
        }
        account = terms[.account].map { CanonicalName(account: $0) }
        guard parts.allSatisfy({ terms[$0] != nil }) else {
            service = nil
            return
        }
        service = parts.reduce(ServiceKey.empty(query.itemClass)) { key, part in
            terms[part].map { key.setting(part, to: $0) } ?? key
        }
    }
}
