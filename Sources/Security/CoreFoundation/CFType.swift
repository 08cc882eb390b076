internal import Foundation

/// The identifier of the Core Foundation type of an object.
public typealias CFTypeID = UInt

public func CFGetTypeID(_ cf: CFTypeRef) -> CFTypeID { (CFKind(cf) ?? .other).rawValue }

public func CFStringGetTypeID() -> CFTypeID { CFKind.string.rawValue }
public func CFDataGetTypeID() -> CFTypeID { CFKind.data.rawValue }
public func CFDictionaryGetTypeID() -> CFTypeID { CFKind.dictionary.rawValue }
public func CFArrayGetTypeID() -> CFTypeID { CFKind.array.rawValue }
public func CFNumberGetTypeID() -> CFTypeID { CFKind.number.rawValue }
public func CFBooleanGetTypeID() -> CFTypeID { CFKind.boolean.rawValue }
public func CFDateGetTypeID() -> CFTypeID { CFKind.date.rawValue }
public func SecAccessControlGetTypeID() -> CFTypeID { CFKind.accessControl.rawValue }

public func CFEqual(_ cf1: CFTypeRef, _ cf2: CFTypeRef) -> Bool {
    (cf1 as? NSObject)?.isEqual(cf2) ?? (cf1 === cf2)
}

public func CFHash(_ cf: CFTypeRef) -> UInt {
    UInt(bitPattern: (cf as? NSObject)?.hash ?? ObjectIdentifier(cf).hashValue)
}

/// The types in queries and results. The numbers are specific to this library; on Apple's systems, too, they are valid
/// within one process only.
private enum CFKind: CFTypeID {
    case other, string, data, dictionary, array, number, boolean, date, accessControl

    init?(_ object: CFTypeRef) {
        switch object {
        case is NSString: self = .string
        case is NSData: self = .data
        case is NSDictionary: self = .dictionary
        case is NSArray: self = .array
        case let number as NSNumber: self = number.isBoolean ? .boolean : .number
        case is NSDate: self = .date
        case is SecAccessControl: self = .accessControl
        default: return nil
        }
    }
}

extension NSNumber {
    /// Whether the object is one of the two that a `Bool` is bridged to.
    var isBoolean: Bool { self === kCFBooleanTrue || self === kCFBooleanFalse }
}
