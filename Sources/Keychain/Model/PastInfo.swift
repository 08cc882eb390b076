package import SecretCrypto

/// The description of a past value: the former place of the item, time and reason of the change, and the parts of the item's row
/// that are needed to open its metadata.
package struct PastInfo: Hashable, Sendable {
    /// The reason why a value became past. Raw values are part of the store format.
    package enum Reason: UInt8, Sendable {
        case replaced = 1
        case deleted = 2
    }

    /// The container of the item.
    package struct Place: Hashable, Sendable {
        package var itemClass: StoredItemClass
        package var isSynchronizable: Bool
        /// kSecAttrAccessGroup, as UTF-8.
        package var accessGroup: [UInt8]
        /// The service or server; nil for an empty service and for classes without one.
        package var service: ServiceKey?

        package init(
            _ itemClass: StoredItemClass, isSynchronizable: Bool = false,
            accessGroup: [UInt8] = ContainerKey.defaultAccessGroup, service: ServiceKey? = nil
        ) {
            (self.itemClass, self.isSynchronizable) = (itemClass, isSynchronizable)
            (self.accessGroup, self.service) = (accessGroup, service)
        }
    }

    /// The row that contained the value, as far as the row of the past value does not contain it.
    package struct Origin: Hashable, Sendable {
        package var id: RowID
        package var directory: RowID
        package var version: Int64
        package var metadata: NonceAndTag
        package var tag: [UInt8]
        /// For Always items.
        package var alwaysTag: [UInt8]?
        package var mac: [UInt8]?
        /// The generation of the master keys that `mac` needs.
        package var masterKeyGeneration: Int64?
    }

    /// The folder that contained the item, for an item whose folder no longer exists.
    package struct Folder: Hashable, Sendable {
        package var defaultProtection: ProtectionClass
        package var permissions: UInt32
        package var userID: UInt32
        package var groupID: UInt32

        package init(defaultProtection: ProtectionClass, permissions: UInt32, userID: UInt32, groupID: UInt32) {
            (self.defaultProtection, self.permissions) = (defaultProtection, permissions)
            (self.userID, self.groupID) = (userID, groupID)
        }
    }

    package var place: Place
    /// The time at which the value became past: wall clock, and ``StoreHeader/storeTime``.
    package var date: KeychainDate
    package var storeTime: Int64
    package var reason: Reason
    /// The thread group that did it: BLAKE2b-128 of boot ID, process ID and start time (16 bytes). Nil for the program itself.
    package var threadGroup: [UInt8]?
    package var origin: Origin
    /// The folder; nil for an item in a container.
    package var folder: Folder?
    /// Fields of later versions.
    package var laterFields: [LaterField] = []

    package init(
        place: Place, date: KeychainDate, storeTime: Int64, reason: Reason, threadGroup: [UInt8]? = nil,
        row: ItemRecord, folder: Folder? = nil
    ) {
        self.place = place
        self.date = date
        self.storeTime = storeTime
        self.reason = reason
        self.threadGroup = threadGroup
        origin = Origin(row)
        self.folder = folder
    }

    init(
        place: Place, date: KeychainDate, storeTime: Int64, reason: Reason, threadGroup: [UInt8]?, origin: Origin,
        folder: Folder?
    ) {
        self.place = place
        self.date = date
        self.storeTime = storeTime
        self.reason = reason
        self.threadGroup = threadGroup
        self.origin = origin
        self.folder = folder
    }
}

extension PastInfo.Origin {
    init(_ row: ItemRecord) {
        self.init(
            id: row.id, directory: row.directory, version: row.version, metadata: row.metadata.nonceAndTag,
            tag: row.tag, alwaysTag: row.alwaysTag, mac: row.mac, masterKeyGeneration: row.masterKeyGeneration)
    }
}
