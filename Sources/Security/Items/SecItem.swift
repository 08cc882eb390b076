public import Foundation

/// Adds an item.
///
/// - Parameters:
///   - attributes: its class, its attributes, its data (``kSecValueData``), and what to return of it.
///   - result: gets what the kSecReturn… keys ask for; nil in every other case. May be NULL.
/// - Returns: ``errSecDuplicateItem`` if there is one with the same primary key.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe ItemCall().add(attributes, result)
}

/// Finds items.
///
/// - Parameters:
///   - query: the class, the attributes that items must have, how many are wanted, and what to return of them.
///   - result: gets what the kSecReturn… keys ask for, one or (with a ``kSecMatchLimit`` other than 1) an array, in the order
///     in which the items were made; nil in every other case. May be NULL if there is no such key.
/// - Returns: ``errSecItemNotFound`` if there is none; ``errSecInteractionNotAllowed`` if one that may be meant is locked.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    unsafe ItemCall().copyMatching(query, result)
}

/// Changes all items that match, or none.
///
/// - Parameters:
///   - query: the class, and the attributes that items must have.
///   - attributesToUpdate: attributes, and data (``kSecValueData``), that they shall have.
/// - Returns: ``errSecItemNotFound`` if there is none; ``errSecDuplicateItem`` if an item has that primary key already.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    ItemCall().update(query, attributesToUpdate)
}

/// Deletes all items that match.
///
/// - Parameter query: the class, and the attributes that items must have.
/// - Returns: ``errSecItemNotFound`` if there is none.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    ItemCall().delete(query)
}
