/// The name of a directory in its parent. Determines the lookup tag of its row.
package enum DirectoryName: Hashable, Sendable {
    case container(ContainerScope)
    case group(CanonicalName)
    case service(CanonicalName, ItemClass)
    case unsupported(UnsupportedScope)

    package init(_ key: Directory.Key) {
        switch key {
        case .container(let scope): self = .container(scope)
        case .unsupported(let scope): self = .unsupported(scope)
        case .group(let name): self = .group(CanonicalName(accessGroup: name))
        case .service(let service): self = .service(CanonicalName(service: service), service.itemClass)
        }
    }
}
