internal import Foundation
internal import KeychainRPC

/// The result of a call, assembled from the frames of its response. Its objects are Foundation's, as those that Apple
/// returns.
struct ItemResult {
    private var entries: [AnyObject] = []
    private var isList = false

    mutating func receive(_ frame: borrowing ResponseFrame) {
        for entry in frame.entries { entries.append(Self.object(of: entry, in: frame)) }
        if frame.isLast { isList = frame.isList }
    }

    /// The object for the result pointer. Never an empty array: a success without anything to return results in nil.
    var object: CFTypeRef? { isList && !entries.isEmpty ? NSArray(array: entries) : entries.first }

    private static func object(of value: PropertyList, in frame: borrowing ResponseFrame) -> AnyObject {
        switch value {
        case .string(let string): return NSString(string: string)
        case .data(let bytes): return NSData(data: Data(bytes))
        case .integer(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        // Apple returns attributes that are booleans as numbers.
        case .boolean(let flag): return NSNumber(value: flag ? 1 : 0)
        case .date(let seconds): return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .secret(let index): return secret(index, in: frame)
        case .null, .object: return NSNull()
        case .array(let values):
            let list = NSMutableArray()
            for value in values { list.add(object(of: value, in: frame)) }
            return list
        case .dictionary(let values):
            return accessControl(value) ?? dictionary(values, in: frame)
        }
    }

    private static func dictionary(
        _ values: [String: PropertyList], in frame: borrowing ResponseFrame
    ) -> NSDictionary {
        let dictionary = NSMutableDictionary()
        for (key, value) in values { dictionary[NSString(string: key)] = object(of: value, in: frame) }
        return dictionary
    }

    private static func accessControl(_ value: PropertyList) -> SecAccessControl? {
        guard let (protection, flags) = value.accessControl, flags >= 0 else { return nil }
        return SecAccessControl(
            protection: protection, flags: SecAccessControlCreateFlags(rawValue: CFOptionFlags(flags)))
    }

    private static func secret(_ index: Int, in frame: borrowing ResponseFrame) -> NSData {
        guard let bytes = frame.secret(index) else { return NSData() }
        return unsafe bytes.withUnsafeBytes { unsafe NSData(bytes: $0.baseAddress, length: $0.count) }
    }
}
