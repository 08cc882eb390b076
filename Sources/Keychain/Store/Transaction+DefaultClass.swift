/// The default protection class of new items: inherited from the service directory, which inherits from its container.
/// The keychain's default is the common default of all containers, because the format has no field for it.
extension KeychainStore {
    /// Returns the default of new service directories in a container.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, unless the container contains an Always item.
    package func defaultProtection(of container: ContainerKey) throws(KeychainFault) -> ProtectionClass {
        try self.container(container)?.defaultProtection ?? .whenUnlocked
    }

    /// Returns the default of new service directories in the default group; nil if item classes differ.
    ///
    /// - Throws: The errors of ``defaultProtection(of:)``.
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

    /// Sets the default of new service directories in a container, which is created with `file` if necessary.
    package func setDefault(
        _ protection: ProtectionClass, of container: ContainerKey, file: PosixAttributes
    ) throws(KeychainFault) {
        try setDefault(protection, of: try self.container(container, file: file))
    }

    /// Sets the default of every container of the keychain, in all groups. Groups that are created later inherit that
    /// of the default group.
    package func setDefault(_ protection: ProtectionClass, file: PosixAttributes) throws(KeychainFault) {
        for container in ContainerKey.standard { try setDefault(protection, of: container, file: file) }
        var after = RowID.none
        while true {
            let page = try writer.directories(parent: .none, after: after, limit: Self.pageSize)
            for record in page {
                guard case .group = try keychain.directoryEnvelope.open(record).key else { continue }
                for id in try writer.directoryIDs(parent: record.id, after: .none, limit: Self.containerLimit) {
                    guard let container = try directory(id: id), case .container = container.key else { continue }
                    try setDefault(protection, of: container)
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

    /// Returns the default of a new directory: a service inherits that of its container, a container that of its item
    /// class in the default group.
    func inheritedProtection(_ key: Directory.Key, in parent: RowID) throws(KeychainFault) -> ProtectionClass {
        switch key {
        case .service: return try directory(id: parent)?.defaultProtection ?? .whenUnlocked
        case .group, .unsupported: return .whenUnlocked
        case .container(let scope):
            return try keychain.directory(.container(scope), in: .none, writer)?.defaultProtection ?? .whenUnlocked
        }
    }
}

extension ContainerKey {
    /// The containers that the default group can have.
    static let standard = ItemClass.allCases.flatMap { itemClass in
        [false, true].map { ContainerKey(itemClass: itemClass, isSynchronizable: $0) }
    }
}
