/// The name by which a directory is searched. Determines the lookup tag of its row.
enum DirectoryName {
    case container(ContainerKey)
    case group(CanonicalName)
    case service(CanonicalName, in: ContainerKey)

    /// - Throws: `interactionNotAllowed` before the first unlock, unless `always`.
    func tag(_ keys: KeyRing, always: Bool = false) throws(KeychainFault) -> [UInt8] {
        switch self {
        case .container(let key): try keys.containerTag(key, always: always)
        case .group(let name): try keys.groupTag(name, always: always)
        case .service(let name, let container): try keys.directoryTag(name, in: container, always: always)
        }
    }

    /// Whether a directory has this name. An attacker who once knew the directory key can seal another name with a valid tag.
    func isName(of key: Directory.Key) -> Bool {
        switch (self, key) {
        case (.container(let wanted), .container(let key)): wanted == key
        case (.group(let name), .group(let key)): CanonicalName(accessGroup: key) == name
        case (.service(let name, let container), .service(let key)):
            container.itemClass == key.itemClass && CanonicalName(service: key) == name
        default: false
        }
    }
}
