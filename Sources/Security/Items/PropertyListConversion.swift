internal import Foundation
internal import KeychainRPC

/// Converts a caller's objects for a request. Objects of other types become `.object`, as do objects that are nested
/// too deeply or follow the first few thousand values: no query needs them, and requests have a maximum size.
struct PropertyListConversion {
    private var valuesLeft = 4096
    private static let maximumDepth = 8

    mutating func value(of object: Any) -> PropertyList { value(of: object, depth: 0) }

    private mutating func value(of object: Any, depth: Int) -> PropertyList {
        guard valuesLeft > 0, depth <= Self.maximumDepth else { return .object }
        valuesLeft -= 1
        switch object {
        case let control as SecAccessControl:
            return .accessControl(
                protection: control.protection, flags: Int64(truncatingIfNeeded: control.flags.rawValue))
        case let list as NSArray:
            return .array(list.map { value(of: $0, depth: depth + 1) })
        case let dictionary as NSDictionary:
            return self.dictionary(dictionary, depth: depth)
        default:
            return Self.simpleValue(of: object)
        }
    }

    private mutating func dictionary(_ dictionary: NSDictionary, depth: Int) -> PropertyList {
        var values: [String: PropertyList] = [:]
        for (key, value) in dictionary {
            guard let key = key as? String else { return .object }
            values[key] = self.value(of: value, depth: depth + 1)
        }
        return .dictionary(values)
    }

    /// Converts an object that contains no others.
    private static func simpleValue(of object: Any) -> PropertyList {
        switch object {
        case is NSNull: .null
        case let string as String: .string(string)
        case let data as Data: .data([UInt8](data))
        case let date as Date: .date(date.timeIntervalSinceReferenceDate)
        case let number as CGFloat: .real(Double(number))
        case let number as NSNumber: value(of: number)
        default: .object
        }
    }

    private static func value(of number: NSNumber) -> PropertyList {
        if number.isBoolean { return .boolean(number.boolValue) }
        return switch UInt8(bitPattern: unsafe number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): .real(number.doubleValue)
        case UInt8(ascii: "Q"): Int64(exactly: number.uint64Value).map { .integer($0) } ?? .real(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }
}
