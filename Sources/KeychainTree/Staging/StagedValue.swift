import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization

/// A value that is being written, with the rules of its commit.
///
/// Belongs to one ``ItemFile`` and is used while that is locked; its own lock is acquired afterwards.
final class StagedValue: Sendable {
    private struct Fields: ~Copyable {
        var contents: SealedBuffer
        var state = CommitState()
        var times: Times
        var availability: ProtectionClass.Availability
    }

    struct Times: Sendable {
        /// The modification time that will be committed.
        var modification: KeychainDate
        /// The change time that all processes see until then.
        var change: KeychainDate
    }

    private let fields: Mutex<Fields>
    /// The number of bytes of plaintext that are copied at a time, which fit into a slab.
    private static let copySize = 16_384

    /// Creates an empty value under the key of `availability`.
    ///
    /// - Parameter limit: The maximum size in bytes.
    init(key: RevocableSecret, availability: ProtectionClass.Availability, limit: Int, now: KeychainDate) {
        let times = Times(modification: now, change: now)
        fields = Mutex(
            Fields(contents: SealedBuffer(key: key, limit: limit), times: times, availability: availability))
    }

    /// The size in bytes.
    var count: Int { fields.withLock { $0.contents.count } }

    var state: CommitState { fields.withLock { $0.state } }

    var times: Times { fields.withLock { $0.times } }

    /// The availability whose key it is kept under.
    var availability: ProtectionClass.Availability { fields.withLock { $0.availability } }

    /// Reports an event. Returns the decision.
    func note<Decision: Sendable>(_ event: (inout CommitState) -> Decision) -> Decision {
        fields.withLock { event(&$0.state) }
    }

    /// Records a change of the contents.
    func touch(_ now: KeychainDate) {
        fields.withLock { $0.times = Times(modification: now, change: now) }
    }

    /// Sets the modification time: utimens(2).
    func setModificationTime(_ time: KeychainDate) {
        fields.withLock { $0.times.modification = time }
    }

    /// Copies the first `count` bytes of a committed value, or all.
    func load(_ secret: SealedSecret, upTo count: Int, charging share: MemoryBudget.Share) throws(KeychainFault) {
        let count = min(count, secret.count)
        var offset = 0
        while offset < count {
            let slab = try secret.slab(at: offset, size: min(Self.copySize, count - offset))
            try write(slab.bytes, at: offset, charging: share)
            offset += slab.count
        }
    }

    /// Moves the value under another key, after a change of the item's class.
    func move(to key: RevocableSecret, of availability: ProtectionClass.Availability) throws(KeychainFault) {
        do throws(CryptoError) {
            try fields.withLock { (fields) throws(CryptoError) in
                try fields.contents.move(to: key)
                fields.availability = availability
            }
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Returns the present value, which an open for reading of a pending name retains. Shares the memory.
    func snapshot() -> StagedSnapshot {
        fields.withLock { StagedSnapshot($0.contents.snapshot()) }
    }

    /// Writes data.
    ///
    /// - Throws: `diskFull` if the share is exhausted.
    func write(_ data: RawSpan, at offset: Int, charging share: MemoryBudget.Share) throws(KeychainFault) {
        do throws(CryptoError) {
            try fields.withLock { (fields) throws(CryptoError) in
                try fields.contents.write(data, at: offset, charging: share)
            }
        } catch {
            throw KeychainFault(error)
        }
    }

    func truncate(to count: Int) throws(KeychainFault) {
        do throws(CryptoError) {
            try fields.withLock { (fields) throws(CryptoError) in try fields.contents.truncate(to: count) }
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Reads at most `size` bytes from `offset` into locked memory; empty at the end.
    func read(at offset: Int, size: Int) throws(KeychainFault) -> SecretBytes {
        try fields.withLock { (fields) throws(KeychainFault) in try fields.contents.slab(at: offset, size: size) }
    }

    /// Commits an item with this value as its secret.
    func save(_ item: Item, in transaction: Transaction) throws(KeychainFault) -> Item {
        try fields.withLock { (fields) throws(KeychainFault) in
            var item = item
            item.file.modificationTime = fields.times.modification
            // A new item has no row with a date yet; times that processes have seen must not decrease (F8).
            item.modificationDate = max(item.modificationDate, fields.times.change)
            return try transaction.save(item, secret: fields.contents)
        }
    }
}

/// The value of a pending name at the time of an open for reading.
final class StagedSnapshot: Sendable {
    let contents: SealedBuffer

    init(_ contents: consuming SealedBuffer) {
        self.contents = contents
    }
}

extension SealedBuffer {
    /// Reads at most `size` bytes from `offset` into locked memory; empty at the end, where it throws after a lock as
    /// well.
    func slab(at offset: Int, size: Int) throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) {
            var slab = try SecretBytes(count: max(0, min(size, count - offset)))
            var output = slab.mutableBytes
            _ = try read(at: offset, into: &output)
            return slab
        } catch {
            throw KeychainFault(error)
        }
    }
}

extension SealedSecret {
    /// Reads at most `size` bytes from `offset` into locked memory; empty at the end, where it throws after a lock as
    /// well.
    func slab(at offset: Int, size: Int) throws(KeychainFault) -> SecretBytes {
        var slab: SecretBytes
        do throws(CryptoError) {
            slab = try SecretBytes(count: max(0, min(size, count - offset)))
        } catch {
            throw KeychainFault(error)
        }
        var output = slab.mutableBytes
        _ = try read(at: offset, into: &output)
        return slab
    }
}
