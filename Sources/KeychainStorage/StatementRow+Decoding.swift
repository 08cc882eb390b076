internal import Keychain
internal import SQLiteRows
internal import SecretCrypto

/// Decodes columns by index into the types of records. All functions throw, because a damaged file may contain any
/// value in any column.
extension StatementRow {
    func number(_ index: Int) throws -> Int64 { try integer(index) }

    func optionalNumber(_ index: Int) throws -> Int64? { isNull(index) ? nil : try number(index) }

    func rowID(_ index: Int) throws -> RowID {
        RowID(rawValue: try number(index))
    }

    func value<Value: RawRepresentable<UInt8>>(_ index: Int) throws -> Value {
        guard let raw = UInt8(exactly: try number(index)), let value = Value(rawValue: raw) else {
            throw KeychainFault.decode
        }
        return value
    }

    /// Decodes a protection class and a generation, in this order.
    func keyGeneration(_ index: Int) throws -> KeyGeneration {
        KeyGeneration(try value(index), try number(index + 1))
    }

    func bytes(_ index: Int) throws -> [UInt8] {
        guard let bytes = optionalBytes(index) else { throw KeychainFault.decode }
        return bytes
    }

    /// Decodes bytes of a fixed size.
    func bytes(_ index: Int, count: Int) throws -> [UInt8] {
        let bytes = try bytes(index)
        guard bytes.count == count else { throw KeychainFault.decode }
        return bytes
    }

    /// Decodes a lookup tag.
    func tag(_ index: Int) throws -> [UInt8] { try bytes(index, count: 16) }

    func optionalTag(_ index: Int) throws -> [UInt8]? {
        isNull(index) ? nil : try tag(index)
    }

    func nonceAndTag(_ index: Int) throws -> NonceAndTag {
        guard let nonceAndTag = NonceAndTag(bytes: try bytes(index)) else { throw KeychainFault.decode }
        return nonceAndTag
    }

    func sealed(nonceAndTag: Int, ciphertext: Int) throws -> Sealed {
        Sealed(nonceAndTag: try self.nonceAndTag(nonceAndTag), ciphertext: try bytes(ciphertext))
    }

    /// Decodes a sealed value; nil if both columns are NULL.
    func optionalSealed(nonceAndTag: Int, ciphertext: Int) throws -> Sealed? {
        if isNull(nonceAndTag), isNull(ciphertext) { return nil }
        return try sealed(nonceAndTag: nonceAndTag, ciphertext: ciphertext)
    }

    func chunkSeals(_ index: Int) throws -> ChunkSeals {
        guard let seals = ChunkSeals(bytes: try bytes(index)) else { throw KeychainFault.decode }
        return seals
    }
}

/// Arguments of statements.
extension SQLValue {
    static func row(_ id: RowID) -> SQLValue { .integer(id.rawValue) }
    static func optional(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
    static func nonceAndTag(_ nonceAndTag: NonceAndTag) -> SQLValue { .blob(nonceAndTag.bytes) }
    static func nonceAndTag(_ nonceAndTag: NonceAndTag?) -> SQLValue { .blob(nonceAndTag.map { $0.bytes }) }
    /// A limit of at least 0.
    static func limit(_ count: Int) -> SQLValue { .integer(Int64(max(0, count))) }
}
