/// The item class of a container in the store, which this program may not support. Raw values are part of the store format.
package enum StoredItemClass: UInt8, CaseIterable, Hashable, Sendable {
    case genericPassword = 1
    case internetPassword = 2
    case certificate = 3
    case key = 4
    case template = 16

    package init(_ itemClass: ItemClass) {
        self =
            switch itemClass {
            case .genericPassword: .genericPassword
            case .internetPassword: .internetPassword
            }
    }

    /// The item class; nil if this program does not support it. Rows of such a class are resealed, copied and counted, and
    /// otherwise left alone.
    package var itemClass: ItemClass? { ItemClass(rawValue: rawValue) }

    /// The name of the item class's directory in the tree.
    var folderName: String {
        switch self {
        case .genericPassword: ItemClass.genericPassword.folderName
        case .internetPassword: ItemClass.internetPassword.folderName
        case .certificate: "certificates"
        case .key: "keys"
        case .template: "templates"
        }
    }
}

/// A container of an item class that this program does not support.
package struct UnsupportedScope: Hashable, Sendable {
    package let itemClass: StoredItemClass
    package let isSynchronizable: Bool

    /// Returns nil for a class that this program supports.
    package init?(_ itemClass: StoredItemClass, isSynchronizable: Bool = false) {
        guard itemClass.itemClass == nil else { return nil }
        (self.itemClass, self.isSynchronizable) = (itemClass, isSynchronizable)
    }
}
