package import SecretCrypto

/// The encoding of a past value's ``PastInfo``.
package enum PastInfoCodec {
    /// The minimum size of the padded plaintext in bytes, so that the info of most values has one size.
    static let minimumCount = 256

    // Part of the store format.
    private enum Tag {
        static let container: UInt8 = 1
        static let date: UInt8 = 9
        static let storeTime: UInt8 = 10
        static let reason: UInt8 = 11
        static let threadGroup: UInt8 = 12
        static let row: UInt8 = 13
        static let metadata: UInt8 = 14
        static let tag: UInt8 = 15
        static let alwaysTag: UInt8 = 16
        static let mac: UInt8 = 17
        static let folder: UInt8 = 18
    }

    private static let threadGroupCount = 16
    private static let tagCount = 16

    /// Encodes the info, with padding, into locked memory.
    ///
    /// - Throws: `attributesTooLarge`; `param` for an info that the format cannot represent; `allocate`.
    package static func encode(_ info: PastInfo) throws(KeychainFault) -> SecretBytes {
        guard isValid(info) else { throw .param }
        var fields = FieldList()
        let place = info.place
        fields.add(Tag.container, [place.itemClass.rawValue, place.isSynchronizable ? 1 : 0] + place.accessGroup)
        if let service = place.service { try DirectoryCodec.add(service, to: &fields) }
        fields.add(Tag.date, try info.date.encoded())
        fields.add(Tag.storeTime, [UInt8](littleEndian: info.storeTime))
        fields.add(Tag.reason, [info.reason.rawValue])
        fields.add(Tag.threadGroup, optional: info.threadGroup)
        add(info.origin, to: &fields)
        fields.add(Tag.folder, optional: info.folder.map(encode))
        fields.add(info.laterFields)
        return try PaddedPlaintext.encode(fields, minimum: minimumCount)
    }

    private static func add(_ origin: PastInfo.Origin, to fields: inout FieldList) {
        let numbers = [origin.id.rawValue, origin.directory.rawValue, origin.version]
        fields.add(Tag.row, numbers.flatMap { [UInt8](littleEndian: $0) })
        fields.add(Tag.metadata, origin.metadata.bytes)
        fields.add(Tag.tag, origin.tag)
        fields.add(Tag.alwaysTag, optional: origin.alwaysTag)
        guard let mac = origin.mac, let generation = origin.masterKeyGeneration else { return }
        fields.add(Tag.mac, [UInt8](littleEndian: generation) + mac)
    }

    private static func encode(_ folder: PastInfo.Folder) -> [UInt8] {
        var bytes = [folder.defaultProtection.rawValue]
        for number in [folder.permissions, folder.userID, folder.groupID] { bytes.append(littleEndian: number) }
        return bytes
    }

    /// Decodes the padded plaintext.
    ///
    /// - Throws: `decode` for anything that `encode` does not write.
    package static func decode(_ plaintext: RawSpan) throws(KeychainFault) -> PastInfo {
        var fields = try PaddedPlaintext.decode(plaintext, minimum: minimumCount)
        let place = try place(&fields)
        let date = try KeychainDate(decoding: fields.required(Tag.date))
        let storeTime = try numbers(fields.required(Tag.storeTime), count: 1)[0]
        let reason = Array(try fields.required(Tag.reason))
        guard reason.count == 1, let reason = PastInfo.Reason(rawValue: reason[0]) else { throw .decode }
        let threadGroup = fields.optional(Tag.threadGroup).map { Array($0) }
        var info = PastInfo(
            place: place, date: date, storeTime: storeTime, reason: reason, threadGroup: threadGroup,
            origin: try origin(&fields), folder: nil)
        if let folder = fields.optional(Tag.folder) { info.folder = try Self.folder(folder) }
        info.laterFields = try fields.later()
        guard isValid(info) else { throw .decode }
        return info
    }

    private static func place(_ fields: inout FieldList) throws(KeychainFault) -> PastInfo.Place {
        let container = Array(try fields.required(Tag.container))
        guard container.count >= 2, let itemClass = StoredItemClass(rawValue: container[0]), container[1] <= 1 else {
            throw .decode
        }
        return PastInfo.Place(
            itemClass, isSynchronizable: container[1] == 1, accessGroup: Array(container[2...]),
            service: try DirectoryCodec.service(&fields))
    }

    private static func origin(_ fields: inout FieldList) throws(KeychainFault) -> PastInfo.Origin {
        let row = try numbers(fields.required(Tag.row), count: 3)
        guard let metadata = NonceAndTag(bytes: Array(try fields.required(Tag.metadata))) else { throw .decode }
        var origin = PastInfo.Origin(
            id: RowID(rawValue: row[0]), directory: RowID(rawValue: row[1]), version: row[2], metadata: metadata,
            tag: Array(try fields.required(Tag.tag)))
        origin.alwaysTag = fields.optional(Tag.alwaysTag).map { Array($0) }
        guard let mac = fields.optional(Tag.mac) else { return origin }
        var reader = ByteReader(mac)
        origin.masterKeyGeneration = try reader.integer()
        origin.mac = reader.rest()
        return origin
    }

    private static func folder(_ bytes: ArraySlice<UInt8>) throws(KeychainFault) -> PastInfo.Folder {
        var reader = ByteReader(bytes)
        guard let protection = ProtectionClass(rawValue: try reader.integer()) else { throw .decode }
        let folder = PastInfo.Folder(
            defaultProtection: protection, permissions: try reader.integer(), userID: try reader.integer(),
            groupID: try reader.integer())
        try reader.finish()
        return folder
    }

    private static func numbers(_ bytes: ArraySlice<UInt8>, count: Int) throws(KeychainFault) -> [Int64] {
        var reader = ByteReader(bytes)
        var numbers: [Int64] = []
        for _ in 0..<count { numbers.append(try reader.integer()) }
        try reader.finish()
        return numbers
    }

    private static func isValid(_ info: PastInfo) -> Bool {
        let origin = info.origin
        guard AttributeValue.isValidUTF8(info.place.accessGroup), info.storeTime >= 0,
            info.threadGroup.map({ $0.count == threadGroupCount }) ?? true,
            [origin.tag, origin.alwaysTag].allSatisfy({ $0.map { $0.count == tagCount } ?? true }),
            (origin.mac == nil) == (origin.masterKeyGeneration == nil),
            (origin.mac == nil) == (origin.alwaysTag == nil),
            origin.mac.map({ $0.count == AlwaysMAC.byteCount }) ?? true,
            info.folder.map({ $0.permissions & ~0o7777 == 0 }) ?? true
        else { return false }
        return isValid(info.place)
    }

    /// Whether the service is one of the item class: only an internet password must have one.
    private static func isValid(_ place: PastInfo.Place) -> Bool {
        guard let service = place.service else { return place.itemClass != .internetPassword }
        return place.itemClass == StoredItemClass(service.itemClass) && DirectoryCodec.isValid(service)
    }
}
