/// A service directory, a container, or an access group that has containers.
package struct Directory: Hashable, Sendable {
    package enum Key: Hashable, Sendable {
        case container(ContainerScope)
        /// An access group other than the default one, as UTF-8.
        case group([UInt8])
        case service(ServiceKey)
        case unsupported(UnsupportedScope)

        /// Whether it is a container, of any item class.
        package var isContainer: Bool {
            switch self {
            case .container, .unsupported: true
            case .group, .service: false
            }
        }
    }

    package var id: RowID
    /// The container of a service directory, the group of a container; ``RowID/none`` for a group and for a container
    /// of the default group.
    package var parent: RowID
    /// The number of changes of the row; 0 for a directory that is not in the store yet.
    package var version: Int64
    package var key: Key
    package var creationDate: KeychainDate
    package var changeDate: KeychainDate
    package var file: PosixAttributes
    /// The protection class of new items in it.
    package var defaultProtection: ProtectionClass
    /// Whether an item of the same name exists next to a service directory.
    package var hasNamesake = false
    /// Fields of later versions.
    package var laterFields: [LaterField] = []

    package init(id: RowID, parent: RowID, key: Key, creationDate: KeychainDate, file: PosixAttributes) {
        self.id = id
        self.parent = parent
        version = 0
        self.key = key
        self.creationDate = creationDate
        changeDate = creationDate
        self.file = file
        defaultProtection = .whenUnlocked
    }
}
