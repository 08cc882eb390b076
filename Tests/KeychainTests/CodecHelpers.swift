import SecretCrypto

@testable import Keychain

// The codecs on arrays. Spans stay out of the tests themselves: within the macros of Swift Testing the compiler
// (6.3.1, unoptimized) makes broken code of them.
extension MetadataCodec {
    static func bytes(of item: Item) throws -> [UInt8] {
        let plaintext = try encode(item)
        return [UInt8](copying: plaintext.bytes)
    }

    static func item(_ bytes: [UInt8], like item: Item) throws -> Item {
        let plaintext = bytes.rawSpan
        return try decode(
            plaintext, id: item.id, directory: item.directory, version: item.version, protection: item.protection)
    }
}

extension DirectoryCodec {
    static func bytes(of directory: Directory) throws -> [UInt8] {
        let plaintext = try encode(directory)
        return [UInt8](copying: plaintext.bytes)
    }

    static func directory(_ bytes: [UInt8], like directory: Directory) throws -> Directory {
        let plaintext = bytes.rawSpan
        return try decode(
            plaintext, id: directory.id, parent: directory.parent, version: directory.version)
    }
}

extension FieldList {
    init(padded bytes: [UInt8]) throws {
        let plaintext = bytes.rawSpan
        self = try PaddedPlaintext.decode(plaintext)
    }

    func paddedBytes() throws -> [UInt8] {
        let plaintext = try PaddedPlaintext.encode(self)
        return [UInt8](copying: plaintext.bytes)
    }
}
