public import Foundation

/// Adds an item.
///
/// - Parameters:
///   - attributes: its class, its attributes, its data (``kSecValueData``), and the form of the result.
///   - result: receives what the kSecReturn… keys request; nil in all other cases. May be NULL.
/// - Returns: ``errSecDuplicateItem`` if an item with the same primary key exists.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe ItemCall().add(attributes, result)
}

/// Finds items.
///
/// - Parameters:
///   - query: the class, the required attributes, the maximum number of items, and the form of the result.
///   - result: receives what the kSecReturn… keys request: one object or, with a ``kSecMatchLimit`` other than 1, an
///     array in the order of creation; nil in all other cases. May be NULL without such a key.
/// - Returns: ``errSecItemNotFound`` if no item matches; ``errSecInteractionNotAllowed`` if an item that may match is
///   locked.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe ItemCall().copyMatching(query, result)
}

/// Changes all matching items in one transaction.
///
/// - Parameters:
///   - query: the class, and the required attributes.
///   - attributesToUpdate: the new attributes and data (``kSecValueData``).
/// - Returns: ``errSecItemNotFound`` if no item matches; ``errSecDuplicateItem`` if another item has that primary key.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    ItemCall().update(query, attributesToUpdate)
}

/// Deletes all matching items.
///
/// - Parameter query: the class, and the required attributes.
/// - Returns: ``errSecItemNotFound`` if no item matches.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    ItemCall().delete(query)
}
