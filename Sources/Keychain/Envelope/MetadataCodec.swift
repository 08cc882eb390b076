package import SecretCrypto

/// The encoding of an item's metadata: all of ``Item`` except ID, directory, version and protection class, which are
/// columns of the row and part of the associated data.
package enum MetadataCodec {
    /// The maximum size of all attributes and extra attributes in bytes: values, and names of extra attributes
    /// (contract, F9).
    package static let maximumAttributes = 64 << 10
    /// The size of ``Item/persistentReference`` in bytes.
    package static let referenceCount = 16
    /// The maximum size of a secret in bytes. The limit of a mount is lower.
    package static let maximumSecret = 1 << 29

    // Part of the store format.
    private enum Tag {
        static let account: UInt8 = 1
        static let creationDate: UInt8 = 2
        static let modificationDate: UInt8 = 3
        static let persistentReference: UInt8 = 4
        static let file: UInt8 = 5
        static let secretVersion: UInt8 = 6
        static let secretCount: UInt8 = 7
        static let attributes: UInt8 = 8
        static let extraAttributes: UInt8 = 9
    }

    /// Encodes an item, with padding, into locked memory.
    ///
    /// - Throws: `attributesTooLarge`; `param` for an item that the format cannot represent (an attribute that no
    ///   caller sets, a reference that is not 16 bytes); `allocate`.
    package static func encode(_ item: Item) throws(KeychainFault) -> SecretBytes {
        try checkLimits(item)
        var fields = FieldList()
        fields.add(Tag.account, try item.account.encoded())
        fields.add(Tag.creationDate, try item.creationDate.encoded())
        fields.add(Tag.modificationDate, try item.modificationDate.encoded())
        fields.add(Tag.persistentReference, item.persistentReference)
        fields.add(Tag.file, try item.file.encoded())
        fields.add(Tag.secretVersion, [UInt8](littleEndian: item.secretVersion))
        fields.add(Tag.secretCount, optional: item.secretCount.map { [UInt8](littleEndian: Int64($0)) })
        fields.add(
            Tag.attributes, optional: try AttributeList.encode(item.attributes, later: item.laterAttributes))
        fields.add(Tag.extraAttributes, optional: try AttributeList.encode(extra: item.extraAttributes))
        fields.add(item.laterFields)
        return try PaddedPlaintext.encode(fields)
    }

    /// Decodes the padded plaintext of an item.
    ///
    /// - Throws: `decode` for anything that `encode` does not write.
    package static func decode(
        _ plaintext: RawSpan, id: RowID, directory: RowID, version: Int64, protection: ProtectionClass
    ) throws(KeychainFault) -> Item {
        var fields = try PaddedPlaintext.decode(plaintext)
        let account = try AttributeValue(decoding: fields.required(Tag.account))
        let creationDate = try KeychainDate(decoding: fields.required(Tag.creationDate))
        let modificationDate = try KeychainDate(decoding: fields.required(Tag.modificationDate))
        let reference = Array(try fields.required(Tag.persistentReference))
        var item = Item(
            id: id, directory: directory, protection: protection, account: account, creationDate: creationDate,
            persistentReference: reference, file: try PosixAttributes(decoding: fields.required(Tag.file)))
        item.version = version
        item.modificationDate = modificationDate
        item.secretVersion = try number(fields.required(Tag.secretVersion))
        item.secretCount = try count(fields.optional(Tag.secretCount))
        (item.attributes, item.laterAttributes) = try AttributeList.decode(fields.optional(Tag.attributes))
        item.extraAttributes = try AttributeList.decode(extra: fields.optional(Tag.extraAttributes))
        item.laterFields = try fields.later { KeyField(rawValue: $0) != nil }
        do throws(KeychainFault) {
            try checkLimits(item)
        } catch {
            throw .decode
        }
        return item
    }

    private static func checkLimits(_ item: Item) throws(KeychainFault) {
        guard item.persistentReference.count == referenceCount, item.account.bytes != nil,
            (0...maximumSecret).contains(item.secretCount ?? 0),
            item.secretVersion >= 0, item.secretVersion <= item.version
        else { throw .param }
        var ofKey = 0
        for field in item.laterFields {
            guard let key = KeyField(rawValue: field.tag) else { continue }
            if let count = key.byteCount {
                guard field.value.count == count else { throw .param }
            } else {
                let payload = try nilIfDamaged { () throws(KeychainFault) in
                    try AttributeList.payloadCount(primaryKey: field.value)
                }
                guard let payload else { throw .param }
                ofKey += payload
            }
        }
        let own = item.attributes.values.reduce(0) { $0 + $1.payloadCount }
        let extra = item.extraAttributes.reduce(0) { $0 + $1.key.count + $1.value.count }
        let later = item.laterAttributes.reduce(0) { $0 + AttributeList.payloadCount($1) }
        guard own + extra + later + ofKey <= maximumAttributes else { throw .attributesTooLarge }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) throws(KeychainFault) -> Int64 {
        var reader = ByteReader(bytes)
        let number = try reader.integer(Int64.self)
        try reader.finish()
        return number
    }

    private static func count(_ bytes: ArraySlice<UInt8>?) throws(KeychainFault) -> Int? {
        guard let bytes else { return nil }
        let count = try number(bytes)
        guard let count = Int(exactly: count) else { throw .decode }
        return count
    }
}
