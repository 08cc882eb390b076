/// The spelling of a service directory's name: `example.com,protocol=https,port=8443`.
enum ServiceName {
    private static let reserved = Array(",=".utf8)
    private static let protocols = Constants(InternetProtocol.table)
    private static let authenticationTypes = Constants(AuthenticationType.table)

    /// Returns the complete spelling, of any length.
    static func spelling(of service: ServiceKey) -> [UInt8] {
        switch service {
        case .generic(let service): NameEncoding.encode(service.bytes ?? [])
        case .internet(let service): spelling(of: service)
        }
    }

    private static func spelling(of service: InternetService) -> [UInt8] {
        var name = encode(service.server)
        func append(_ key: String, _ value: [UInt8]?) {
            if let value { name += Array(",\(key)=".utf8) + value }
        }
        append("protocol", service.protocol.map { spell($0, protocols) })
        append("port", service.port.map { Array(String($0).utf8) })
        append("path", service.path.map(encode))
        append("domain", service.securityDomain.map(encode))
        append("auth", service.authenticationType.map { spell($0, authenticationTypes) })
        return name
    }

    /// Parses an uncut name; nil if it is malformed. The caller compares it with the canonical spelling.
    static func parse(_ name: [UInt8]) -> InternetService? {
        let parts = name.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Array.init)
        guard let first = parts.first, let server = decode(first) else { return nil }
        var service = InternetService(server: server)
        for part in parts.dropFirst() {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let value = Array(part[(equals + 1)...])
            guard set(String(decoding: part[..<equals], as: UTF8.self), value, in: &service) else { return nil }
        }
        return service
    }

    private static func set(_ key: String, _ value: [UInt8], in service: inout InternetService) -> Bool {
        switch key {
        case "protocol":
            service.protocol = unspell(value, protocols)
            return service.protocol != nil
        case "port":
            service.port = Int64(String(decoding: value, as: UTF8.self)).flatMap { $0 == 0 ? nil : $0 }
            return service.port != nil
        case "path":
            service.path = decode(value)
            return service.path != nil
        case "domain":
            service.securityDomain = decode(value)
            return service.securityDomain != nil
        case "auth":
            service.authenticationType = unspell(value, authenticationTypes)
            return service.authenticationType?.bytes != nil
        default:
            return false
        }
    }

    private static func encode(_ value: AttributeValue) -> [UInt8] {
        NameEncoding.encode(value.bytes ?? [], reserved: reserved)
    }

    private static func decode(_ name: [UInt8]) -> AttributeValue? {
        NameEncoding.decode(name, reserved: reserved).map { .blob($0) }
    }

    /// Spells a value: a constant by its name in lower case, other text as `~text`, a number as `%23` and decimal.
    private static func spell(_ value: AttributeValue, _ constants: Constants) -> [UInt8] {
        if case .number(let number) = value { return Array("%23\(number)".utf8) }
        let code = value.bytes ?? []
        if let name = constants.names[code] { return Array(name.utf8) }
        return [UInt8(ascii: "~")] + NameEncoding.encode(code, reserved: reserved)
    }

    private static func unspell(_ name: [UInt8], _ constants: Constants) -> AttributeValue? {
        if name.first == UInt8(ascii: "~") { return decode(Array(name.dropFirst())) }
        if name.starts(with: "%23".utf8) {
            return Int64(String(decoding: name.dropFirst(3), as: UTF8.self)).map { .number($0) }
        }
        return constants.codes[String(decoding: name, as: UTF8.self)].map { .text($0) }
    }
}

/// A table of constants, by their values and by their names in lower case.
private struct Constants: Sendable {
    let names: [[UInt8]: String]
    let codes: [String: [UInt8]]

    init(_ table: [(suffix: String, code: String)]) {
        names = Dictionary(uniqueKeysWithValues: table.map { (Array($0.code.utf8), $0.suffix.lowercased()) })
        codes = Dictionary(uniqueKeysWithValues: table.map { ($0.suffix.lowercased(), Array($0.code.utf8)) })
    }
}
