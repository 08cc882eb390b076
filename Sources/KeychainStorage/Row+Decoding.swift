internal import Foundation
internal import GRDB
internal import Keychain
internal import SecretCrypto

/// Columns by index as the records have them. All throw: a damaged file may hold anything in any column.
extension Row {
    func number(_ index: Int) throws -> Int64 {
        try decode(Int64.self, atIndex: index)
    }

    func rowID(_ index: Int) throws -> RowID {
        RowID(rawValue: try number(index))
    }

    func value<Value: RawRepresentable<UInt8>>(_ index: Int) throws -> Value {
        guard let raw = UInt8(exactly: try number(index)), let value = Value(rawValue: raw) else {
            throw KeychainError.decode
        }
        return value
    }

    /// Protection class and generation, in this order.
    func keyGeneration(_ index: Int) throws -> KeyGeneration {
        KeyGeneration(try value(index), try number(index + 1))
    }

    /// One copy, out of SQLite's page. By a span: going through the elements of a `Data` takes ten times as long.
    func optionalBytes(_ index: Int) throws -> [UInt8]? {
        try withUnsafeData(atIndex: index) { data in data.map { [UInt8](copying: $0.bytes) } }
    }

    func bytes(_ index: Int) throws -> [UInt8] {
        guard let bytes = try optionalBytes(index) else { throw KeychainError.decode }
        return bytes
    }

    /// Of a fixed size.
    func bytes(_ index: Int, count: Int) throws -> [UInt8] {
        let bytes = try bytes(index)
        guard bytes.count == count else { throw KeychainError.decode }
        return bytes
    }

    /// A look-up tag.
    func tag(_ index: Int) throws -> [UInt8] { try bytes(index, count: 16) }

    func optionalTag(_ index: Int) throws -> [UInt8]? {
        try optionalBytes(index) == nil ? nil : tag(index)
    }

    func seal(_ index: Int) throws -> Seal {
        guard let seal = Seal(bytes: try bytes(index)) else { throw KeychainError.decode }
        return seal
    }

    func sealed(seal: Int, ciphertext: Int) throws -> Sealed {
        Sealed(seal: try self.seal(seal), ciphertext: try bytes(ciphertext))
    }

    /// Nil if both columns are NULL.
    func optionalSealed(seal: Int, ciphertext: Int) throws -> Sealed? {
        if try optionalBytes(seal) == nil, try optionalBytes(ciphertext) == nil { return nil }
        return try sealed(seal: seal, ciphertext: ciphertext)
    }

    /// Any number of seals, one after the other.
    func seals(_ index: Int) throws -> [Seal] {
        let bytes = try bytes(index)
        guard bytes.count.isMultiple(of: Seal.byteCount) else { throw KeychainError.decode }
        return try stride(from: 0, to: bytes.count, by: Seal.byteCount).map { start in
            guard let seal = Seal(bytes: Array(bytes[start..<start + Seal.byteCount])) else {
                throw KeychainError.decode
            }
            return seal
        }
    }
}

/// Arguments of statements.
extension Data {
    init(_ seals: [Seal]) {
        self.init(capacity: seals.count * Seal.byteCount)
        for seal in seals { append(contentsOf: seal.bytes) }
    }

    init(_ seal: Seal) { self.init(seal.bytes) }
}
