/// An item without its secret: a value, independent of the store it came from.
package struct Item: Hashable, Sendable {
    /// The row: also the item's place in listings.
    package var id: RowID
    /// The service directory it lies in.
    package var directory: RowID
    /// Counts the changes of the row; 0 for an item that is not in the store yet.
    package var version: Int64
    package var protection: ProtectionClass
    /// kSecAttrAccount; text or data, empty if there is none.
    package var account: AttributeValue
    /// What callers have set, of role `.caller`.
    package var attributes: [AttributeKey: AttributeValue]
    /// Extended attributes that are not keychain attributes: the name after `user.`, and the bytes.
    package var extraAttributes: [[UInt8]: [UInt8]]
    package var creationDate: KeychainDate
    package var modificationDate: KeychainDate
    /// kSecAttrPersistentReference: 16 random bytes, stable for the life of the item.
    package var persistentReference: [UInt8]
    package var file: PosixAttributes
    /// The exact length of the secret in bytes; nil for an item without one.
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

    /// What its attributes take of memory, about, in bytes. O(number of attributes).
    package var attributeBytes: Int {
        let ofAccount = account.bytes?.count ?? 0
        // Most have no other, and each open asks.
        if attributes.isEmpty, extraAttributes.isEmpty { return ofAccount }
        // Two arrays on the heap and the dictionary's places beside the bytes themselves.
        let overhead = 128
        let known = attributes.values.reduce(ofAccount) { $0 + overhead + ($1.bytes?.count ?? 0) }
        return extraAttributes.reduce(known) { $0 + overhead + $1.key.count + $1.value.count }
    }

    /// The same without anything that somebody named or wrote: what may stay of a locked item (H2).
    package var withoutAttributes: Item {
        var item = self
        item.account = .text([])
        item.attributes = [:]
        item.extraAttributes = [:]
        return item
    }
}
