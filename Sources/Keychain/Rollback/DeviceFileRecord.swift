package import SecretCrypto

/// The last state of a store that a device has seen, kept outside of the store, to detect an older or another copy of it
/// (contract, S2).
package struct SeenState: Hashable, Sendable {
    package var commit: Int64
    package var commitID: [UInt8]
    package var userKeyGeneration: Int64
    package var cost: Argon2id.Cost
    /// The last mark of the device in the row of the store.
    package var mark: DeviceMark

    package init(
        commit: Int64, commitID: [UInt8], userKeyGeneration: Int64, cost: Argon2id.Cost, mark: DeviceMark = .none
    ) {
        self.commit = commit
        self.commitID = commitID
        self.userKeyGeneration = userKeyGeneration
        self.cost = cost
        self.mark = mark
    }

    /// Creates the state of a store with an opened header.
    init(_ header: StoreHeader, of store: StoreRecord, keys: HeaderKeys, mark: DeviceMark) {
        self.init(
            commit: header.commit, commitID: header.commitID, userKeyGeneration: keys.generation, cost: store.cost,
            mark: mark)
    }

    /// Whether a header of the same generation is that of the same transaction.
    func isState(of header: StoreHeader) -> Bool { commit == header.commit && commitID == header.commitID }

    /// Returns why a device that has seen this state refuses another one whose user key it knows; nil if it is later than or
    /// equal to this one. A larger number alone does not mean that: another device may have changed a copy without the last
    /// changes of this one. A larger mark is normal after a crash, before which this state was not stored.
    func refusal(of found: SeenState) -> KeychainFault? {
        guard commit <= found.commit else { return .rolledBack(kept: commit, found: found.commit) }
        guard commit < found.commit else { return commitID == found.commitID ? nil : .forked(commit: commit) }
        let hasMark = mark.commit < found.mark.commit || mark == found.mark
        return hasMark ? nil : .missingChanges(mark: mark.commit)
    }
}

/// The bytes that ``CommitNumberStore`` saves for a store.
package struct EncodedState: Hashable, Sendable {
    package let store: [UInt8]
    package let bytes: [UInt8]
}

/// The encoding of a ``SeenState`` with a MAC. The key is derived from the user key of the generation that it names: who
/// never knew that key can neither forge the file nor create a store that the file accepts.
///
/// Version (1 byte, 2), store ID (16), commit number (8), commit ID (16), user-key generation (8), passes (8), memory (8),
/// mark (8 and 16), BLAKE2b-256(device file key; preceding bytes). All numbers are little-endian.
struct DeviceFileRecord: Hashable, Sendable {
    static let byteCount = headCount + macCount
    private static let headCount = 1 + StoreRecord.identifierCount + 2 * (8 + StoreHeader.commitIDCount) + 3 * 8
    private static let macCount = 32
    private static let version: UInt8 = 2

    let state: SeenState
    private let bytes: [UInt8]

    /// Reads the bytes of a file, whose MAC is not verified yet.
    ///
    /// - Throws: `decode` for another size, version or store, or numbers that no device writes.
    init(decoding bytes: [UInt8], store: [UInt8]) throws(KeychainFault) {
        state = try Self.state(in: bytes, store: store)
        self.bytes = bytes
    }

    private static func state(in bytes: [UInt8], store: [UInt8]) throws(KeychainFault) -> SeenState {
        guard bytes.count == byteCount, Array(bytes.prefix(1 + store.count)) == [version] + store else { throw .decode }
        var reader = ByteReader(bytes.dropFirst(1 + store.count))
        let commit: Int64 = try reader.integer()
        let commitID = try reader.bytes(StoreHeader.commitIDCount)
        let generation: Int64 = try reader.integer()
        let passes: UInt64 = try reader.integer()
        let memory: UInt64 = try reader.integer()
        let mark = DeviceMark(
            commit: try reader.integer(), commitID: try reader.bytes(StoreHeader.commitIDCount))
        guard commit >= 0, commit < .max, generation > 0, mark.commit >= 0 else { throw .decode }
        return SeenState(
            commit: commit, commitID: commitID, userKeyGeneration: generation,
            cost: Argon2id.Cost(passes: passes, memory: memory), mark: mark)
    }

    /// Whether the MAC was computed with that key.
    func isAuthentic(_ key: RevocableSecret) throws(KeychainFault) -> Bool {
        let mac = try Self.mac(Array(bytes.prefix(Self.headCount)), key)
        let found = Array(bytes.suffix(Self.macCount))
        return SecretBytes.areEqual(mac.rawSpan, found.rawSpan)
    }

    /// Returns the bytes of a file.
    static func encode(_ state: SeenState, store: [UInt8], key: RevocableSecret) throws(KeychainFault) -> [UInt8] {
        var head = [version] + store
        head.append(littleEndian: state.commit)
        head += state.commitID
        head.append(littleEndian: state.userKeyGeneration)
        head.append(littleEndian: state.cost.passes)
        head.append(littleEndian: state.cost.memory)
        head.append(littleEndian: state.mark.commit)
        head += state.mark.commitID
        return head + (try mac(head, key))
    }

    private static func mac(_ head: [UInt8], _ key: RevocableSecret) throws(KeychainFault) -> [UInt8] {
        try key.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: [head], count: macCount)
        }
    }
}
