/// How rows are found: the parts that look-up tags are made of (contract, S2). Part of the store format.
extension KeyRing {
    /// The tag of the item of that account in a directory.
    ///
    /// - Parameter always: under the Always look-up key.
    package func itemTag(
        directory: RowID, account: AttributeValue, always: Bool = false
    ) throws(KeychainError) -> [UInt8] {
        let parts = [Array("item".utf8), [UInt8](littleEndian: directory.rawValue), account.bytes ?? []]
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// The tag of a container.
    package func containerTag(_ container: ContainerKey, always: Bool = false) throws(KeychainError) -> [UInt8] {
        let parts = [Array("container".utf8)] + container.tagParts
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }

    /// The tag of a service directory in a container.
    package func directoryTag(
        _ service: ServiceKey, in container: ContainerKey, always: Bool = false
    ) throws(KeychainError) -> [UInt8] {
        let parts = [Array("directory".utf8)] + container.tagParts + service.tagParts
        return try always ? alwaysTag(parts: parts) : lookupTag(parts: parts)
    }
}

extension ContainerKey {
    fileprivate var tagParts: [[UInt8]] {
        [[itemClass.rawValue], accessGroup, [isSynchronizable ? 1 : 0]]
    }
}

extension ServiceKey {
    fileprivate var tagParts: [[UInt8]] {
        switch self {
        case .generic(let service): [service.tagPart]
        case .internet(let service):
            [
                service.server.tagPart, AttributeValue.tagPart(service.protocol),
                AttributeValue.tagPart(service.port.map { .number($0) }), AttributeValue.tagPart(service.path),
                AttributeValue.tagPart(service.securityDomain),
                AttributeValue.tagPart(service.authenticationType),
            ]
        }
    }
}

extension AttributeValue {
    /// Equal for text and data of equal bytes; a number is never equal to bytes.
    fileprivate var tagPart: [UInt8] {
        switch self {
        case .text(let bytes), .data(let bytes): [0] + bytes
        case .number(let number): [1] + [UInt8](littleEndian: number)
        case .date(let date): [2] + [UInt8](littleEndian: date.seconds) + [UInt8](littleEndian: date.nanoseconds)
        }
    }

    /// Default values (nil, 0, empty) are "not set", whichever way they are spelled (contract, T3).
    fileprivate static func tagPart(_ value: AttributeValue?) -> [UInt8] {
        switch value {
        case nil, .number(0): return []
        case .some(let value): return value.bytes?.isEmpty == true ? [] : value.tagPart
        }
    }
}
