@_exported public import Foundation

// The Core Foundation types that Keychain Services use. Each is the Foundation class to which it is toll-free bridged
// on Apple's systems, so that `as` converts between these and `String`, `Data`, `[String: Any]`.
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFMutableDictionary = NSMutableDictionary
public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDate = NSDate
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFError = NSError
public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFOptionFlags = UInt

/// 0 (``errSecSuccess``), or the reason for which a call failed.
public typealias OSStatus = Int32

// As Apple's are imported: code that unwraps them and code that does not both compile.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// Allocators, which do not exist here: the Swift runtime allocates objects, and functions ignore this parameter.
public final class CFAllocator: Sendable {
    private init() {}
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFAllocatorDefault: CFAllocator! = nil

/// Under which a program's own name is in `Bundle.main.infoDictionary`: where wrappers look for a default service.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
