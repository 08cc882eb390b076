/// The identifier of a sealed field. Raw values are part of the store format.
package enum SealedField: UInt8, Sendable {
    case metadata = 1
    case secret = 2
    case directoryName = 3
    case directoryAlwaysName = 4
    case masterKeys = 5
    case header = 6
    case userKey = 7
    case recipient = 8
    case classKeys = 9
    /// The columns under a row MAC.
    case row = 10
    case pastUserKey = 11
    case pastInfo = 12
}

/// Associated data, which identify the field, the row and the store of a ciphertext.
///
/// Field (1 byte), store ID (as a part), then numbers of fixed width and parts that are preceded by their size, so that
/// different lists have different bytes.
package struct AssociatedData: Hashable, Sendable {
    package private(set) var bytes: [UInt8]

    package init(_ field: SealedField, store: [UInt8]) {
        bytes = []
        // The size of an item's row with one chunk, the most frequent case, which is built for each row that is opened.
        bytes.reserveCapacity(192)
        bytes.append(field.rawValue)
        append(part: store)
    }

    package mutating func append(_ number: Int64) { bytes.append(littleEndian: number) }

    /// Appends a part of any size. Nil differs from an empty part.
    package mutating func append(part: [UInt8]?) {
        guard let part else { return bytes.append(littleEndian: UInt32.max) }
        bytes.append(littleEndian: UInt32(clamping: part.count))
        bytes.append(contentsOf: part)
    }

    /// Returns these data followed by numbers.
    package consuming func adding(_ numbers: Int64...) -> AssociatedData {
        var longer = self
        for number in numbers { longer.append(number) }
        return longer
    }

    /// Returns these data followed by a part.
    package consuming func adding(part: [UInt8]?) -> AssociatedData {
        var longer = self
        longer.append(part: part)
        return longer
    }
}

/// The purpose of a derived key or a MAC: the first part of the hash's input. Part of the store format.
enum KeyLabel {
    static let recoveryKey = Array("keychainfs recovery key".utf8)
    static let keyFile = Array("keychainfs key file".utf8)
    static let twoSecrets = Array("keychainfs two secrets".utf8)
    static let slotExchange = Array("keychainfs slot x25519".utf8)
    static let slotMAC = Array("keychainfs slot mac".utf8)
    static let userKeyWrapping = Array("keychainfs user key".utf8)
    static let pastUserKeyWrapping = Array("keychainfs past user key".utf8)
    static let masterKeyWrapping = Array("keychainfs master keys".utf8)
    static let recipientWrapping = Array("keychainfs recipient".utf8)
    static let userWrapping = Array("keychainfs class keys by user".utf8)
    static let deviceWrapping = Array("keychainfs class keys by device".utf8)
    static let userAndDeviceWrapping = Array("keychainfs class keys by user and device".utf8)
    static let deviceTag = Array("keychainfs device".utf8)
    static let unlessOpenSecret = Array("keychainfs unless open secret".utf8)
    static let ephemeralMetadata = Array("keychainfs ephemeral metadata".utf8)
    static let ephemeralSecret = Array("keychainfs ephemeral secret".utf8)
    static let header = Array("keychainfs header".utf8)
    static let rowDigest = Array("keychainfs row digest".utf8)
    static let deviceFile = Array("keychainfs device file".utf8)
    static let ephemeral = Array("keychainfs ephemeral".utf8)
    static let alwaysRow = Array("keychainfs always row".utf8)
}
