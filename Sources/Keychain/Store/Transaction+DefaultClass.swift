/// The class that new items get when nobody names one: a service directory's own, which begins as that of its container.
/// What holds for the whole keychain is what all containers have: the format knows no other place for it.
extension KeychainStore {
    /// What new service directories of a container begin with.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, unless the container holds an Always item.
    package func defaultProtection(of container: ContainerKey) throws(KeychainFault) -> ProtectionClass {
        try self.container(container)?.defaultProtection ?? .whenUnlocked
    }

    /// What new service directories of the default group begin with, whatever their class; nil where classes differ.
    ///
    /// - Throws: as ``defaultProtection(of:)``.
    package func defaultProtection() throws(KeychainFault) -> ProtectionClass? {
        var found: Set<ProtectionClass> = []
        for container in ContainerKey.standard { found.insert(try defaultProtection(of: container)) }
        return found.count == 1 ? found.first : nil
    }
}

extension Transaction {
    /// More containers than a group can have.
    private static let containerLimit = 64
    private static let pageSize = 128

    /// Sets what new service directories of a container begin with; `file` is what the container gets if it is made now.
    package func setDefault(
        _ protection: ProtectionClass, of container: ContainerKey, file: PosixAttributes
    ) throws(KeychainFault) {
        try setDefault(protection, of: try self.container(container, file: file))
    }

    /// The same of every container of the keychain, those of all groups included; the groups that are made later follow the
    /// default group.
    package func setDefault(_ protection: ProtectionClass, file: PosixAttributes) throws(KeychainFault) {
        for container in ContainerKey.standard { try setDefault(protection, of: container, file: file) }
        var after = RowID.none
        while true {
            let page = try writer.directories(parent: .none, after: after, limit: Self.pageSize)
            for record in page {
                guard case .group = try keychain.directoryEnvelope.open(record).key else { continue }
                for id in try writer.directoryIDs(parent: record.id, after: .none, limit: Self.containerLimit) {
                    if let container = try directory(id: id) { try setDefault(protection, of: container) }
                }
            }
            guard let last = page.last else { return }
            after = last.id
        }
    }

    private func setDefault(_ protection: ProtectionClass, of container: Directory) throws(KeychainFault) {
        guard container.defaultProtection != protection else { return }
        var container = container
        container.defaultProtection = protection
        _ = try save(container)
    }

    /// What a new directory begins with: a service as its container, a container as that of its class in the default group.
    func inheritedProtection(_ key: Directory.Key, in parent: RowID) throws(KeychainFault) -> ProtectionClass {
        switch key {
        case .service: return try directory(id: parent)?.defaultProtection ?? .whenUnlocked
        case .group: return .whenUnlocked
        case .container(var container):
            container.accessGroup = ContainerKey.defaultAccessGroup
            let tag = try keychain.keys.containerTag(container)
            return try keychain.directory(tag: tag, writer)?.defaultProtection ?? .whenUnlocked
        }
    }
}

extension ContainerKey {
    /// The containers that the default group can have.
    static let standard = ItemClass.allCases.flatMap { itemClass in
        [false, true].map { ContainerKey(itemClass: itemClass, isSynchronizable: $0) }
    }
}
