/// An item without its secret. A value that is independent of the store.
package struct Item: Hashable, Sendable {
    /// The row number, which also determines the order of listings.
    package var id: RowID
    /// The service directory that contains the item.
    package var directory: RowID
    /// The number of changes of the row; 0 for an item that is not in the store yet.
    package var version: Int64
    package var protection: ProtectionClass
    /// kSecAttrAccount: text or data, empty if not set.
    package var account: AttributeValue
    /// The attributes with the role `.caller`.
    package var attributes: [AttributeKey: AttributeValue]
    /// The extended attributes that are not keychain attributes: the name after `user.`, and the bytes.
    package var extraAttributes: [[UInt8]: [UInt8]]
    private var later: LaterContent?
    package var creationDate: KeychainDate
    package var modificationDate: KeychainDate
    /// kSecAttrPersistentReference: 16 random bytes, stable during the lifetime of the item.
    package var persistentReference: [UInt8]
    package var file: PosixAttributes
    /// The exact size of the secret in bytes; nil for an item without one.
    package var secretCount: Int?
    /// The version at which the secret was last sealed.
    package var secretVersion: Int64

    package init(
        id: RowID, directory: RowID, protection: ProtectionClass, account: AttributeValue, creationDate: KeychainDate,
        persistentReference: [UInt8], file: PosixAttributes
    ) {
        self.id = id
        self.directory = directory
        version = 0
        self.protection = protection
        self.account = account
        attributes = [:]
        extraAttributes = [:]
        self.creationDate = creationDate
        modificationDate = creationDate
        self.persistentReference = persistentReference
        self.file = file
        secretCount = nil
        secretVersion = 0
    }

    /// An estimate of the memory of its attributes in bytes. O(number of attributes).
    package var attributeBytes: Int {
        let ofAccount = account.bytes?.count ?? 0
        // Most items have no other attributes, and each open calls this.
        if attributes.isEmpty, extraAttributes.isEmpty, later == nil {
            return ofAccount
        }
        // The memory of two arrays and of the dictionary's entry, in addition to the bytes.
        let overhead = 128
        let known = attributes.values.reduce(ofAccount) { $0 + overhead + ($1.bytes?.count ?? 0) }
        let later = (laterAttributes + laterFields).reduce(known) { $0 + overhead + $1.value.count }
        return extraAttributes.reduce(later) { $0 + overhead + $1.key.count + $1.value.count }
    }

    /// The item without all names and values that callers have set: the part that may stay in memory while it is locked
    /// (H2).
    package var withoutAttributes: Item {
        var item = self
        item.account = .text([])
        item.attributes = [:]
        item.extraAttributes = [:]
        item.later = nil
        return item
    }

    /// The attributes of classes that this program does not support, and those of later versions.
    package var laterAttributes: [LaterField] {
        get { later?.attributes ?? [] }
        set { later = LaterContent(attributes: newValue, fields: laterFields) }
    }

    /// The fields of classes that this program does not support, and those of later versions.
    package var laterFields: [LaterField] {
        get { later?.fields ?? [] }
        set { later = LaterContent(attributes: laterAttributes, fields: newValue) }
    }
}
