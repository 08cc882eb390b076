import Keychain
import SecretCrypto

/// The item that a freed name referred to: its attributes, sealed under a key in the arena that a lock wipes (H1, H2).
final class PredecessorItem: Sendable {
    private let metadata: SealedBuffer
    private let directory: RowID
    private let version: Int64
    let protection: ProtectionClass
    /// The row under which it continues, if its name was freed by a rename.
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

    /// The memory in bytes.
    var weight: Int { metadata.count }

    /// Returns the item at the time when its name was freed.
    ///
    /// - Throws: `interactionNotAllowed` after a lock.
    func item() throws(KeychainFault) -> Item {
        let plaintext: SecretBytes = try metadata.slab(at: 0, size: metadata.count)
        return try MetadataCodec.decode(
            plaintext.bytes, id: row ?? .none, directory: directory, version: version, protection: protection)
    }
}

typealias FreedName = FreedNames<PredecessorItem>.Entry

/// The attributes that a new item inherits from the predecessor of its name (F5).
struct Inheritance: Sendable {
    let item: Item
    /// The row under which the former item continues; it gets a new reference.
    let row: RowID?
}

extension Item {
    /// Returns a new item that continues a former one, like a file that is renamed over an item.
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
    /// Returns a new item that continues a former one. The former item gets a new reference if it continues elsewhere.
    ///
    /// If it cannot be changed now, or its reference has passed to yet another item, the new item does not continue it,
    /// because references are unique.
    func succeed(_ inheritance: Inheritance?, with item: Item) throws(KeychainFault) -> Item {
        // The former item itself may be restored.
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

    /// Returns the class that an item does not list in its directory.
    func defaultProtection(_ item: Item) throws(KeychainFault) -> ProtectionClass {
        try directory(id: item.directory)?.defaultProtection ?? .whenUnlocked
    }
}
