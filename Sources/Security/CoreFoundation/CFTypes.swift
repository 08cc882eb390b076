@_exported public import Foundation

// The Core Foundation types that Keychain Services use. Each is the Foundation class to which it is toll-free bridged
// on Apple's systems, so that `as` converts between these and `String`, `Data`, `[String: Any]`.
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFSet = NSSet
public typealias CFData = NSData
public typealias CFDate = NSDate
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFError = NSError
public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFOptionFlags = UInt

/// A number whose bytes are four characters, the first in the most significant byte: a ``kSecAttrCreator``.
public typealias FourCharCode = UInt32
public typealias OSType = FourCharCode

/// 0 (``errSecSuccess``), or the reason for which a call failed.
public typealias OSStatus = Int32

// As Apple's are imported: code that unwraps them and code that does not both compile.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// Allocators, which do not exist here: the Swift runtime allocates objects. Functions ignore this parameter, except
/// ``CFDataCreateWithBytesNoCopy(_:_:_:_:)``.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFAllocatorDefault: CFAllocator! = nil

/// Releases nothing: for the memory of a caller, in ``CFDataCreateWithBytesNoCopy(_:_:_:_:)``.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFAllocatorNull: CFAllocator! = CFAllocator()

/// Under which a program's own name is in `Bundle.main.infoDictionary`: where wrappers look for a default service.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
