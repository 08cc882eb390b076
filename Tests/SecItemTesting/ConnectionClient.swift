internal import Keychain
package import KeychainRPC
internal import SecretCrypto

/// The four functions, executed by the process at the other end of a connection.
package struct ConnectionClient: SecItemClient {
    private let connection: any KeychainTransport
    private let groups: [String]

    package init(connection: any KeychainTransport, groups: [String] = ["default"]) {
        self.connection = connection
        self.groups = groups
    }

    package func entitled(_ groups: [String]) -> any SecItemClient {
        ConnectionClient(connection: connection, groups: groups)
    }

    package func add(_ attributes: [String: PlainValue]) -> Answer {
        let (values, secret) = Self.split(attributes)
        return perform(ItemRequest(.add, query: values, accessGroups: groups), secret)
    }

    package func copyMatching(_ query: [String: PlainValue]) -> Answer {
        perform(ItemRequest(.copyMatching, query: Self.split(query).values, accessGroups: groups), [])
    }

    package func update(_ query: [String: PlainValue], _ attributes: [String: PlainValue]) -> Int32 {
        let (values, secret) = Self.split(attributes)
        let request = ItemRequest(
            .update, query: Self.split(query).values, attributes: values, accessGroups: groups)
        return perform(request, secret).status
    }

    package func delete(_ query: [String: PlainValue]) -> Int32 {
        perform(ItemRequest(.delete, query: Self.split(query).values, accessGroups: groups), []).status
    }

    private func perform(_ request: ItemRequest, _ secret: [UInt8]) -> Answer {
        var entries: [PlainValue] = []
        var isList = false
        let status = connection.perform(request, secret: secret.rawSpan) { frame in
            for entry in frame.entries { entries.append(PlainValue(entry, frame)) }
            isList = frame.isList
        }
        guard status == 0, let first = entries.first else { return Answer(status: status, result: nil) }
        return Answer(status: status, result: isList ? .list(entries) : first)
    }

    /// Separates the secret from the dictionary.
    private static func split(_ plain: [String: PlainValue]) -> (values: [String: PropertyList], secret: [UInt8]) {
        var values = plain.mapValues { PropertyList($0) }
        guard case .data(let secret)? = plain[kSecValueData] else { return (values, []) }
        values[kSecValueData] = .secret(0)
        return (values, secret)
    }
}

extension PropertyList {
    fileprivate init(_ plain: PlainValue) {
        self =
            switch plain {
            case .text(let text): .string(text)
            case .data(let bytes): .data(bytes)
            case .number(let number): .integer(number)
            case .real(let number): .real(number)
            case .boolean(let flag): .boolean(flag)
            case .date(let date): .date(date.interval)
            case .list(let values): .array(values.map { PropertyList($0) })
            case .dictionary(let values): .dictionary(values.mapValues { PropertyList($0) })
            case .accessControl(let control):
                .accessControl(protection: control.protection.code, flags: control.flags)
            case .null: .null
            case .object: .object
            }
    }
}

extension PlainValue {
    fileprivate init(_ value: PropertyList, _ frame: borrowing ResponseFrame) {
        if let terms = value.accessControl, let protection = ProtectionClass(code: terms.protection) {
            self = .accessControl(AccessControl(protection: protection, flags: terms.flags))
            return
        }
        switch value {
        case .string(let text): self = .text(text)
        case .data(let bytes): self = .data(bytes)
        case .integer(let number): self = .number(number)
        case .real(let number): self = .real(number)
        case .boolean(let flag): self = .boolean(flag)
        case .date(let interval): self = .date(KeychainDate(interval: interval))
        case .array(let values):
            var list: [PlainValue] = []
            for value in values { list.append(PlainValue(value, frame)) }
            self = .list(list)
        case .dictionary(let values):
            var dictionary: [String: PlainValue] = [:]
            for (key, value) in values { dictionary[key] = PlainValue(value, frame) }
            self = .dictionary(dictionary)
        case .null: self = .null
        case .object: self = .object
        case .secret(let index):
            if let secret = frame.secret(index) { self = .data([UInt8](copying: secret)) } else { self = .null }
        }
    }
}

extension KeychainDate {
    private static let reference: Int64 = 978_307_200

    /// Seconds since 2001.
    fileprivate var interval: Double { Double(seconds - Self.reference) + Double(nanoseconds) / 1e9 }

    fileprivate init(interval: Double) {
        let seconds = interval.rounded(.down)
        self.init(
            seconds: Int64(seconds) + Self.reference, nanoseconds: Int32(((interval - seconds) * 1e9).rounded()))
    }
}
