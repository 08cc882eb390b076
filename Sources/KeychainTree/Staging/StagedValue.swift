import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization

/// A value that is being written, with the rules of when it counts.
///
/// Belongs to one ``ItemFile`` and is used under its lock; its own lock comes after that one.
final class StagedValue: Sendable {
    private struct Fields: ~Copyable {
        var contents: SealedBuffer
        var state = CommitState()
        var times: Times
        var availability: ProtectionClass.Availability
    }

    struct Times: Sendable {
        /// mtime as it will be committed.
        var modification: KeychainDate
        /// ctime as everyone sees it meanwhile.
        var change: KeychainDate
    }

    private let fields: Mutex<Fields>
    /// A slab's worth of plaintext at a time passes from a committed value into a staged one.
    private static let copySize = 16_384

    /// Empty, under the key of `availability`. `limit` is the longest value in bytes.
    init(key: RevocableSecret, availability: ProtectionClass.Availability, limit: Int, now: KeychainDate) {
        let times = Times(modification: now, change: now)
        fields = Mutex(
            Fields(contents: SealedBuffer(key: key, limit: limit), times: times, availability: availability))
    }

    /// In bytes.
    var count: Int { fields.withLock { $0.contents.count } }

    var state: CommitState { fields.withLock { $0.state } }

    var times: Times { fields.withLock { $0.times } }

    /// Whose key it is kept under.
    var availability: ProtectionClass.Availability { fields.withLock { $0.availability } }

    /// Something happened to the value: what is to be done about it.
    func note<Decision: Sendable>(_ event: (inout CommitState) -> Decision) -> Decision {
        fields.withLock { event(&$0.state) }
    }

    /// The contents have changed.
    func touch(_ now: KeychainDate) {
        fields.withLock { $0.times = Times(modification: now, change: now) }
    }

    /// utimens(2).
    func setModificationTime(_ time: KeychainDate) {
        fields.withLock { $0.times.modification = time }
    }

    /// Takes over the first `count` bytes of a committed value, or all.
    func load(_ secret: SealedSecret, upTo count: Int, charging share: MemoryBudget.Share) throws(KeychainFault) {
        let count = min(count, secret.count)
        var offset = 0
        while offset < count {
            let slab = try secret.slab(at: offset, size: min(Self.copySize, count - offset))
            try write(slab.bytes, at: offset, charging: share)
            offset += slab.count
        }
    }

    /// Keeps the value under another key: the class of its item has changed.
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

    /// The value as it is now: what an open for reading of an uncommitted name keeps. It shares the memory.
    func snapshot() -> StagedSnapshot {
        fields.withLock { StagedSnapshot($0.contents.snapshot()) }
    }

    /// `diskFull` if the share has no room for what is new.
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

    /// At most `size` bytes from `offset`, in locked memory; empty at the end.
    func read(at offset: Int, size: Int) throws(KeychainFault) -> SecretBytes {
        try fields.withLock { (fields) throws(KeychainFault) in try fields.contents.slab(at: offset, size: size) }
    }

    /// Commits an item with this value as its secret.
    func save(_ item: Item, in transaction: Transaction) throws(KeychainFault) -> Item {
        try fields.withLock { (fields) throws(KeychainFault) in
            var item = item
            item.file.modificationTime = fields.times.modification
            // A new item has no row yet whose date could be moved on: what everyone has seen is not taken back (F8).
            item.modificationDate = max(item.modificationDate, fields.times.change)
            return try transaction.save(item, secret: fields.contents)
        }
    }
}

/// One value of a name that had not been committed when it was opened for reading.
final class StagedSnapshot: Sendable {
    let contents: SealedBuffer

    init(_ contents: consuming SealedBuffer) {
        self.contents = contents
    }
}

extension SealedBuffer {
    /// At most `size` bytes from `offset`, in locked memory; empty at the end, where a lock has it throw all the same.
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
    /// At most `size` bytes from `offset`, in locked memory; empty at the end, where a lock has it throw all the same.
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
