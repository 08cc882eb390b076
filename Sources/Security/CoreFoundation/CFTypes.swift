@_exported public import Foundation

// The Core Foundation types that Keychain Services are written in. Each is the Foundation class that it is toll-free
// bridged to on Apple's systems, so that `as` converts between these and `String`, `Data`, `[String: Any]`.
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

/// 0 (``errSecSuccess``), or why a call has not succeeded.
public typealias OSStatus = Int32

// As Apple's are imported: code that unwraps them and code that does not both compile.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// Nobody can have one: objects are allocated by the Swift runtime, and what takes an allocator ignores it.
public final class CFAllocator: Sendable {
    private init() {}
}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFAllocatorDefault: CFAllocator! = nil

/// Under which a program's own name is in `Bundle.main.infoDictionary`: where wrappers look for a default service.
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
