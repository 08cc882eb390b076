internal import Foundation

/// The functions with which a dictionary keeps and compares its keys. Here all dictionaries keep references to their
/// keys and compare these with `isEqual`, as Apple's do with ``kCFTypeDictionaryKeyCallBacks``.
public struct CFDictionaryKeyCallBacks: Sendable {}

/// The functions with which a dictionary keeps its values. Here all dictionaries keep references to their values, as
/// Apple's do with ``kCFTypeDictionaryValueCallBacks``.
public struct CFDictionaryValueCallBacks: Sendable {}

public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// Creates an empty dictionary.
///
/// - Parameters:
///   - allocator: ignored.
///   - capacity: ignored; every dictionary grows.
///   - keyCallBacks: ignored. Without them, Apple's dictionaries keep no reference and compare addresses.
///   - valueCallBacks: ignored, like those of the keys.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary()
}

/// Sets the value of a key.
///
/// - Parameters:
///   - key: the address of an object (`Unmanaged.toOpaque()`), to which the dictionary keeps a reference.
///   - value: the address of an object, as of the key.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public func CFDictionarySetValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    guard let dictionary = theDict, let key = unsafe key, let value = unsafe value,
        let key = unsafe Unmanaged<AnyObject>.fromOpaque(key).takeUnretainedValue() as? NSObject
    else { return }
    dictionary.setObject(unsafe Unmanaged<AnyObject>.fromOpaque(value).takeUnretainedValue(), forKey: key)
}
