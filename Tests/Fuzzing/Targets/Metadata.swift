import Keychain
import SecretCrypto

/// S2, S4: opens the sealed metadata of items and directories. The first byte determines whether the input is the
/// complete plaintext or its fields.
extension FuzzTarget {
    static let metadata = FuzzTarget("metadata", limit: 8192, examples: { try itemExamples() }) { input in
        let plaintext = plaintext(of: input)
        guard let item = try? decodedItem(plaintext) else { return }
        try hold(try bytes(of: item) == plaintext, "metadata that is not the one form of an item")
    }

    static let directories = FuzzTarget("directories", limit: 4096, examples: { try directoryExamples() }) { input in
        let plaintext = plaintext(of: input)
        guard let directory = try? decodedDirectory(plaintext) else { return }
        try hold(try bytes(of: directory) == plaintext, "metadata that is not the one form of a directory")
    }

    /// Count, fields, zeros up to a padded size; or the input as it is.
    private static func plaintext(of input: [UInt8]) -> [UInt8] {
        var reader = InputReader(input)
        guard reader.byte() % 4 != 3 else { return reader.remaining() }
        let fields = reader.remaining()
        let count = (0..<4).map { UInt8(truncatingIfNeeded: fields.count >> (8 * $0)) }
        let plaintext = count + fields
        return plaintext + [UInt8](repeating: 0, count: Padding.paddedCount(plaintext.count) - plaintext.count)
    }

    // MARK: Codecs on arrays

    private static let version: Int64 = 1 << 40

    private static func decodedItem(_ plaintext: [UInt8]) throws -> Item {
        try MetadataCodec.decode(
            plaintext.span.bytes, id: RowID(rawValue: 1), directory: RowID(rawValue: 2), version: version,
            protection: .whenUnlocked)
    }

    private static func decodedDirectory(_ plaintext: [UInt8]) throws -> Directory {
        try DirectoryCodec.decode(
            plaintext.span.bytes, id: RowID(rawValue: 1), parent: RowID(rawValue: 2), version: version)
    }

    private static func bytes(of item: Item) throws -> [UInt8] {
        let plaintext = try MetadataCodec.encode(item)
        return [UInt8](copying: plaintext.bytes)
    }

    private static func bytes(of directory: Directory) throws -> [UInt8] {
        let plaintext = try DirectoryCodec.encode(directory)
        return [UInt8](copying: plaintext.bytes)
    }

    // MARK: Examples

    private static func itemExamples() throws -> [[UInt8]] {
        try [Item.plain, .full].flatMap { item in both(try bytes(of: item)) }
    }

    private static func directoryExamples() throws -> [[UInt8]] {
        let keys: [Directory.Key] = [
            .service(.generic(service: .string("mail"))), .service(.internet(.full)), .group(Array("team".utf8)),
            .container(ContainerScope(.internetPassword, isSynchronizable: true)),
        ]
        return try keys.flatMap { key in
            both(
                try bytes(
                    of: Directory(
                        id: RowID(rawValue: 1), parent: RowID(rawValue: 2), key: key, creationDate: .example,
                        file: .example)))
        }
    }

    /// The plaintext, and its fields.
    private static func both(_ plaintext: [UInt8]) -> [[UInt8]] {
        let count = (0..<4).reduce(0) { $0 | Int(plaintext[$1]) << (8 * $1) }
        return [[3] + plaintext, [0] + Array(plaintext[4..<4 + count])]
    }
}
