import Keychain
import SecretCrypto

/// The item that a freed name stood for: its attributes, sealed under a key in the arena that a lock wipes (H1, H2).
final class PredecessorItem: Sendable {
    private let metadata: SealedBuffer
    private let directory: RowID
    private let version: Int64
    let protection: ProtectionClass
    /// Where it lives on, if its name was freed by a rename.
    let row: RowID?

    private static let limit = 1 << 20

    init(_ item: Item, livingOnAs row: RowID?, keys: StagedValueKeys) throws(KeychainFault) {
        let plaintext = try MetadataCodec.encode(item)
        var metadata = SealedBuffer(key: try keys.key(for: item.protection.availability), limit: Self.limit)
        do throws(CryptoError) { try metadata.write(plaintext.bytes, at: 0) } catch { throw KeychainFault(error) }
        self.metadata = metadata
        (directory, version, protection) = (item.directory, item.version, item.protection)
        self.row = row
    }

    /// In bytes.
    var weight: Int { metadata.count }

    /// The item as it was when its name was freed; `interactionNotAllowed` after a lock.
    func item() throws(KeychainFault) -> Item {
        let plaintext: SecretBytes = try metadata.slab(at: 0, size: metadata.count)
        return try MetadataCodec.decode(
            plaintext.bytes, id: row ?? .none, directory: directory, version: version, protection: protection)
    }
}

typealias FreedName = FreedNames<PredecessorItem>.Entry

/// What a new item takes over from the one that its name stood for (F5).
struct Inheritance: Sendable {
    let item: Item
    /// Where the former item lives on: it is to get a new reference.
    let row: RowID?
}

extension Item {
    /// A new item that goes on with a former one: as a file that is renamed over an item does.
    func succeeding(_ former: Item, default protection: ProtectionClass) -> Item {
        var item = self
        (item.attributes, item.extraAttributes) = (former.attributes, former.extraAttributes)
        item.protection = former.protection
        item.creationDate = former.creationDate
        item.persistentReference = former.persistentReference
        item.modificationDate = max(modificationDate, former.modificationDate)
        return item.taking(self, sourceDefault: protection)
    }
}

extension Transaction {
    /// A new item that goes on with a former one, which gets a reference of its own if it lives on elsewhere.
    ///
    /// Where that one cannot be changed now, or its reference has gone on to yet another one, the new one is a new item: no
    /// two have the same reference.
    func succeed(_ inheritance: Inheritance?, with item: Item) throws(KeychainFault) -> Item {
        // It may be the former item itself that comes back.
        guard let inheritance, inheritance.item.persistentReference != item.persistentReference else { return item }
        let former = inheritance.item
        if let row = inheritance.row {
            do throws(KeychainFault) {
                guard try renewReference(of: row, from: former.persistentReference) else { return item }
            } catch .interactionNotAllowed {
                return item
            } catch .decode {
                return item
            }
        }
        return item.succeeding(former, default: try defaultProtection(item))
    }

    /// The class that an item does not list where it lies.
    func defaultProtection(_ item: Item) throws(KeychainFault) -> ProtectionClass {
        try directory(id: item.directory)?.defaultProtection ?? .whenUnlocked
    }
}
