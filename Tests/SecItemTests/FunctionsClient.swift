import Foundation
import KeychainConnection
import KeychainRPC
import SecItemTesting

@testable import Keychain
@testable import Security

/// A client that calls the SecItem functions as an application does, with separate objects for queries and results.
struct FunctionsClient: SecItemClient {
    let connection: any KeychainTransport
    var groups = ["default"]

    func entitled(_ groups: [String]) -> any SecItemClient { FunctionsClient(connection: connection, groups: groups) }

    func add(_ attributes: [String: PlainValue]) -> Answer {
        answer { SecItemAdd(attributes.object, &$0) }
    }

    func copyMatching(_ query: [String: PlainValue]) -> Answer {
        answer { SecItemCopyMatching(query.object, &$0) }
    }

    func update(_ query: [String: PlainValue], _ attributes: [String: PlainValue]) -> Int32 {
        answer { _ in SecItemUpdate(query.object, attributes.object) }.status
    }

    func delete(_ query: [String: PlainValue]) -> Int32 {
        answer { _ in SecItemDelete(query.object) }.status
    }

    private func answer(_ call: (inout CFTypeRef?) -> OSStatus) -> Answer {
        ItemAccess.$scoped.withValue(ItemAccess(connection, accessGroups: groups)) {
            var result: CFTypeRef?
            let status = call(&result)
            return Answer(status: status, result: result.map { PlainValue($0) })
        }
    }
}

extension [String: PlainValue] {
    fileprivate var object: CFDictionary { mapValues(\.object) as CFDictionary }
}

extension PlainValue {
    fileprivate var object: AnyObject {
        switch self {
        case .text(let text): NSString(string: text)
        case .data(let bytes): NSData(data: Data(bytes))
        case .number(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .date(let date):
            NSDate(
                timeIntervalSinceReferenceDate: Double(date.seconds) - Date.timeIntervalBetween1970AndReferenceDate
                    + Double(date.nanoseconds) / 1_000_000_000)
        case .list(let values): NSArray(array: values.map(\.object))
        case .dictionary(let values): values.object
        case .accessControl(let control):
            SecAccessControl(
                protection: control.protection.code,
                flags: SecAccessControlCreateFlags(rawValue: CFOptionFlags(truncatingIfNeeded: control.flags)))
        case .null: NSNull()
        case .object: NSObject()
        }
    }

    fileprivate init(_ object: AnyObject) {
        switch object {
        case let text as NSString: self = .text(text as String)
        case let data as NSData: self = .data([UInt8](data as Data))
        case let number as NSNumber: self = PlainValue(number)
        case let date as NSDate: self = .date(KeychainDate(date))
        case let list as NSArray: self = .list(list.map { PlainValue($0 as AnyObject) })
        case let dictionary as NSDictionary: self = .dictionary(Self.values(dictionary))
        case let control as SecAccessControl: self = PlainValue(control)
        default: self = .object
        }
    }

    private init(_ number: NSNumber) {
        if CFGetTypeID(number) == CFBooleanGetTypeID() {
            self = .boolean(number.boolValue)
        } else {
            self = .number(number.int64Value)
        }
    }

    private init(_ control: SecAccessControl) {
        let protection = ProtectionClass.allCases.first { $0.code == control.protection }
        guard let protection else {
            self = .object
            return
        }
        self = .accessControl(
            AccessControl(protection: protection, flags: Int64(truncatingIfNeeded: control.flags.rawValue)))
    }

    private static func values(_ dictionary: NSDictionary) -> [String: PlainValue] {
        var values: [String: PlainValue] = [:]
        for (key, value) in dictionary { values["\(key)"] = PlainValue(value as AnyObject) }
        return values
    }
}

extension KeychainDate {
    /// To the microsecond: a date of Foundation's is a number of seconds.
    fileprivate init(_ date: NSDate) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        let seconds = (microseconds / 1_000_000).rounded(.down)
        self.init(seconds: Int64(seconds), nanoseconds: Int32((microseconds - seconds * 1_000_000) * 1000))
    }
}
