package import SecretCrypto

/// The encoding of a directory's metadata: all of ``Directory`` except ID, parent and version, which are columns of the
/// row.
package enum DirectoryCodec {
    // Part of the store format. A directory has exactly one of the first three fields and the last one; 4 to 8 only
    // with a server.
    private enum Tag {
        static let container: UInt8 = 1
        static let service: UInt8 = 2
        static let server: UInt8 = 3
        static let `protocol`: UInt8 = 4
        static let port: UInt8 = 5
        static let path: UInt8 = 6
        static let securityDomain: UInt8 = 7
        static let authenticationType: UInt8 = 8
        static let creationDate: UInt8 = 9
        static let changeDate: UInt8 = 10
        static let file: UInt8 = 11
        static let defaultProtection: UInt8 = 12
        static let accessGroup: UInt8 = 13
        static let namesake: UInt8 = 16
    }

    /// Encodes a directory, with padding, into locked memory.
    ///
    /// - Throws: `attributesTooLarge` for a key beyond 120 KiB; `param`; `allocate`.
    package static func encode(_ directory: Directory) throws(KeychainFault) -> SecretBytes {
        guard directory.key.isValid else { throw .param }
        var fields = FieldList()
        switch directory.key {
        case .container(let scope):
            fields.add(Tag.container, encode(StoredItemClass(scope.itemClass), scope.isSynchronizable))
        case .unsupported(let scope): fields.add(Tag.container, encode(scope.itemClass, scope.isSynchronizable))
        case .group: break
        case .service(let service): try add(service, to: &fields)
        }
        fields.add(Tag.creationDate, try directory.creationDate.encoded())
        fields.add(Tag.changeDate, try directory.changeDate.encoded())
        fields.add(Tag.file, try directory.file.encoded())
        fields.add(Tag.defaultProtection, [directory.defaultProtection.rawValue])
        if case .group(let name) = directory.key { fields.add(Tag.accessGroup, name) }
        if directory.hasNamesake { fields.add(Tag.namesake, [1]) }
        fields.add(directory.laterFields)
        return try PaddedPlaintext.encode(fields)
    }

    /// Decodes the padded plaintext of a directory.
    ///
    /// - Throws: `decode` for anything that `encode` does not write.
    package static func decode(
        _ plaintext: RawSpan, id: RowID, parent: RowID, version: Int64
    ) throws(KeychainFault) -> Directory {
        var fields = try PaddedPlaintext.decode(plaintext)
        let container = try containerOrService(&fields)
        let creationDate = try KeychainDate(decoding: fields.required(Tag.creationDate))
        let changeDate = try KeychainDate(decoding: fields.required(Tag.changeDate))
        let file = try PosixAttributes(decoding: fields.required(Tag.file))
        let protection = Array(try fields.required(Tag.defaultProtection))
        let group = fields.optional(Tag.accessGroup).map { Directory.Key.group(Array($0)) }
        let namesake = fields.optional(Tag.namesake).map { Array($0) }
        let later = try fields.later()
        guard namesake == nil || namesake == [1] else { throw .decode }
        guard (container == nil) != (group == nil), let key = container ?? group, key.isValid else { throw .decode }
        guard protection.count == 1, let defaultProtection = ProtectionClass(rawValue: protection[0]) else {
            throw .decode
        }
        var directory = Directory(id: id, parent: parent, key: key, creationDate: creationDate, file: file)
        directory.version = version
        directory.hasNamesake = namesake != nil
        directory.laterFields = later
        directory.changeDate = changeDate
        directory.defaultProtection = defaultProtection
        return directory
    }

    /// Decodes the key of a container or service; nil for a group, whose name is the last field.
    private static func containerOrService(_ fields: inout FieldList) throws(KeychainFault) -> Directory.Key? {
        if let container = fields.optional(Tag.container) { return try decode(Array(container)) }
        return try service(&fields).map { .service($0) }
    }

    /// Decodes a service or server; nil without one.
    static func service(_ fields: inout FieldList) throws(KeychainFault) -> ServiceKey? {
        if let service = fields.optional(Tag.service) {
            return .generic(service: try AttributeValue(decoding: service))
        }
        guard let server = fields.optional(Tag.server) else { return nil }
        return .internet(try internet(server, &fields))
    }

    /// Adds the fields of a service or server.
    static func add(_ key: ServiceKey, to fields: inout FieldList) throws(KeychainFault) {
        switch key {
        case .generic(let service): fields.add(Tag.service, try service.encoded())
        case .internet(let service): try add(service, to: &fields)
        }
    }

    /// Whether this is the canonical form of a key, in which default values count as "not set".
    static func isValid(_ key: ServiceKey) -> Bool {
        switch key {
        case .generic(let service): service.bytes != nil
        case .internet(let service): service == service.normalized && service.isNameable
        }
    }

    /// Encodes item class and synchronizable, 1 byte each.
    private static func encode(_ itemClass: StoredItemClass, _ isSynchronizable: Bool) -> [UInt8] {
        [itemClass.rawValue, isSynchronizable ? 1 : 0]
    }

    private static func decode(_ bytes: [UInt8]) throws(KeychainFault) -> Directory.Key {
        guard bytes.count == 2, let itemClass = StoredItemClass(rawValue: bytes[0]), bytes[1] <= 1 else {
            throw .decode
        }
        let isSynchronizable = bytes[1] == 1
        if let scope = UnsupportedScope(itemClass, isSynchronizable: isSynchronizable) { return .unsupported(scope) }
        guard let itemClass = itemClass.itemClass else { throw .decode }
        return .container(ContainerScope(itemClass, isSynchronizable: isSynchronizable))
    }

    private static func add(_ service: InternetService, to fields: inout FieldList) throws(KeychainFault) {
        fields.add(Tag.server, try service.server.encoded())
        fields.add(Tag.protocol, optional: try service.protocol?.encoded())
        fields.add(Tag.port, optional: service.port.map { [UInt8](littleEndian: $0) })
        fields.add(Tag.path, optional: try service.path?.encoded())
        fields.add(Tag.securityDomain, optional: try service.securityDomain?.encoded())
        fields.add(Tag.authenticationType, optional: try service.authenticationType?.encoded())
    }

    private static func internet(
        _ server: ArraySlice<UInt8>, _ fields: inout FieldList
    ) throws(KeychainFault) -> InternetService {
        var service = InternetService(server: try AttributeValue(decoding: server))
        service.protocol = try value(fields.optional(Tag.protocol))
        if let port = fields.optional(Tag.port) {
            var reader = ByteReader(port)
            service.port = try reader.integer()
            try reader.finish()
        }
        service.path = try value(fields.optional(Tag.path))
        service.securityDomain = try value(fields.optional(Tag.securityDomain))
        service.authenticationType = try value(fields.optional(Tag.authenticationType))
        return service
    }

    private static func value(_ bytes: ArraySlice<UInt8>?) throws(KeychainFault) -> AttributeValue? {
        guard let bytes else { return nil }
        return try AttributeValue(decoding: bytes)
    }
}

extension Directory.Key {
    /// Whether this is the canonical form of the key: default values count as "not set", names of groups are text, and
    /// the default group has no row.
    fileprivate var isValid: Bool {
        switch self {
        case .container, .unsupported: true
        case .group(let name): AttributeValue.isValidUTF8(name) && name != ContainerKey.defaultAccessGroup
        case .service(let key): DirectoryCodec.isValid(key)
        }
    }
}

extension InternetService {
    /// Whether names can distinguish the types of the values.
    fileprivate var isNameable: Bool {
        if case .date? = self.protocol { return false }
        return [server, path, securityDomain, authenticationType].allSatisfy { $0 == nil || $0?.bytes != nil }
    }
}
