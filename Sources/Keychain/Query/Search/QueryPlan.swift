/// What a query tells of where its matches lie: parts of the key that are looked up by their tags instead of being
/// compared.
struct QueryPlan: Hashable, Sendable {
    /// The one directory of each container, if the query names all that a directory stands for.
    let service: ServiceKey?
    /// The one name in each directory.
    let account: CanonicalName?

    init(_ query: ItemQuery) {
        let terms = query.attributes.values
        let parts = AttributeKey.allCases.filter {
            $0.isOfService && $0.definition.classes.contains(query.itemClass)
        }
        // Tags are of names as they are written.
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
