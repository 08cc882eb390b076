import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// An open `rpc` file: a request while it is collected, then its response while it is read; one at a time.
///
/// Both are sealed under a key that a lock wipes. The loss is reported once, as ENOKEY. A duplicate of the descriptor,
/// even in another process, shares the state. No lock of the tree is acquired while its own is locked.
final class RPCHandle: Sendable {
    /// The state of the last request.
    enum Stage {
        /// The request is being written, or there is no request.
        case collecting
        /// The request is complete; the next read executes it.
        case complete(StagedSnapshot)
        /// A thread is executing it, or generating the next bytes of its response.
        case busy
        case responding(PartialAnswer)
    }

    struct State: ~Copyable {
        var stage = Stage.collecting
        /// The bytes collected; nil if none have been written.
        var collected: SealedBuffer?
        /// The length of the complete request in bytes, once it is known.
        var length: Int?
        /// Whether a lock has wiped data and that has not been reported yet.
        var isLost = false
    }

    private let state = Mutex(State())
    private let service: any RPCBackend
    private let keys: StagedValueKeys
    /// The share of the user who opened the file, to which its memory is charged.
    private let share: MemoryBudget.Share

    /// The number of bytes above which reading a request takes time.
    private static let shortRequest = 8 << 10
    /// The maximum length of a request in bytes. The backend refuses much shorter ones.
    private static let limit = 1 << 30

    init(service: any RPCBackend, keys: StagedValueKeys, share: MemoryBudget.Share) {
        self.service = service
        self.share = share
        self.keys = keys
    }

    /// The memory of the handle in bytes.
    var weight: Int {
        state.withLock { state in
            switch state.stage {
            case .collecting: state.collected?.count ?? 0
            case .complete(let request): request.contents.count
            case .busy: 0
            case .responding(let response): response.rest?.contents.count ?? 0
            }
        }
    }

    /// Discards a request that has not been executed or answered yet, after a lock.
    func discard() {
        state.withLock { $0.discard() }
    }

    // MARK: Writing

    /// Collects bytes of a request: all of them, or none and an error.
    ///
    /// - Throws: EBUSY until the last response has been read completely. EMSGSIZE for a request that is too long, or
    ///   longer than it states; EINVAL for an invalid one; ENOKEY after a lock; ENOMEM; ENOSPC. These errors drop the
    ///   collected bytes, and the next write begins a request.
    func write(_ data: RawSpan) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            try state.throwIfDiscarded()
            guard case .collecting = state.stage else { throw .resourceBusy }
            do throws(Errno) {
                try collect(data, &state)
            } catch {
                state.begin()
                throw error
            }
        }
    }

    private func collect(_ data: RawSpan, _ state: inout State) throws(Errno) {
        var bytes: SealedBuffer
        switch state.collected.take() {
        case .some(let collected): bytes = collected
        case nil: bytes = try newBuffer()
        }
        let count = bytes.count
        var length = state.length
        if length == nil { length = try self.length(of: bytes, data) }
        if let length, count + data.byteCount > length { throw .messageTooLong }
        do throws(CryptoError) { try bytes.write(data, at: count, charging: share) } catch {
            throw KeychainFault(error).errno
        }
        guard count + data.byteCount == length else {
            state.collected = consume bytes
            state.length = length
            return
        }
        state.length = nil
        state.stage = .complete(StagedSnapshot(bytes))
    }

    /// Returns the length of the complete request, if its first bytes state it.
    private func length(of collected: borrowing SealedBuffer, _ data: RawSpan) throws(Errno) -> Int? {
        let count = collected.count
        guard count > 0 else { return try service.length(ofRequestBeginning: data) }
        var prefix = try slab(min(count + data.byteCount, SealedBuffer.pieceSize))
        var output = prefix.mutableBytes
        _ = try mapped { () throws(KeychainFault) in try collected.readSecret(at: 0, into: &output) }
        _ = output.write(data, at: count)
        return try service.length(ofRequestBeginning: prefix.bytes)
    }

    private func slab(_ count: Int) throws(Errno) -> SecretBytes {
        try mapped { () throws(KeychainFault) -> SecretBytes in
            try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(count: count) }
        }
    }

    // MARK: Reading

    /// The action of a read.
    enum ReadAction {
        /// None: there is no request.
        case none
        case execute(StagedSnapshot)
        case resume(PartialAnswer)
    }

    /// Assigns an action to a read, which must end it with ``finish(_:)``. Other reads get none before.
    ///
    /// - Throws: EAGAIN while the request is incomplete; EBUSY while another thread has an action; ENOKEY after a lock.
    func begin() throws(Errno) -> ReadAction {
        try state.withLock { (state) throws(Errno) -> ReadAction in
            try state.throwIfDiscarded()
            switch state.stage {
            case .collecting:
                guard state.collected == nil else { throw .resourceTemporarilyUnavailable }
                return .none
            case .busy: throw .resourceBusy
            case .complete(let request):
                state.stage = .busy
                return .execute(request)
            case .responding(let response):
                state.stage = .busy
                return .resume(response)
            }
        }
    }

    /// Ends an action with the rest of the response: nil if it has ended or is lost. A lock in the meantime discards
    /// it.
    func finish(_ left: PartialAnswer?) {
        putBack(left.map { .resume($0) } ?? .none)
    }

    /// Returns an action that has not been executed, for the next read.
    func putBack(_ work: ReadAction) {
        state.withLock { state in
            switch work {
            case .none: state.stage = .collecting
            case .execute(let request): state.stage = .complete(request)
            case .resume(var response):
                response.charge = share.force(response.heldBytes)
                state.stage = .responding(response)
            }
            guard state.isLost else { return }
            state.isLost = false
            state.discard()
        }
    }

    /// Executes a request.
    ///
    /// - Throws: `allocate` while unread responses use too much memory.
    func respond(
        to request: StagedSnapshot, from caller: Caller, willWait: () -> Void
    ) throws(KeychainFault) -> (changes: [ItemChange], response: any RPCResponse) {
        guard !share.isExhausted else { throw .allocate }
        if request.contents.count > Self.shortRequest { willWait() }
        return try service.respond(to: request.contents, from: caller, willWait: willWait)
    }

    /// Generates at most `size` bytes of a response. Returns them with the rest.
    func next(_ size: Int, of response: PartialAnswer) throws(KeychainFault) -> ResponseChunk {
        if let rest = response.rest {
            let bytes: SecretBytes = try rest.contents.slab(at: response.offset, size: size)
            let count = bytes.count
            return ResponseChunk(bytes: bytes, left: response.advanced(by: count))
        }
        while var made = try response.source.next() {
            if made.count == 0 { continue }
            let rest = made.count > size ? try seal(made.bytes.extracting(size..<made.count)) : nil
            made.truncate(to: size)
            return ResponseChunk(bytes: made, left: PartialAnswer(source: response.source, rest: rest).ifAny)
        }
        return ResponseChunk(bytes: nil, left: nil)
    }

    // MARK: Sealing

    private func seal(_ bytes: RawSpan) throws(KeychainFault) -> StagedSnapshot {
        var buffer = SealedBuffer(key: try keys.key(for: .unlocked), limit: Self.limit)
        try KeychainFault.translating { () throws(CryptoError) in try buffer.write(bytes, at: 0) }
        return StagedSnapshot(buffer)
    }

    private func newBuffer() throws(Errno) -> SealedBuffer {
        try mapped { () throws(KeychainFault) -> SealedBuffer in
            SealedBuffer(key: try keys.key(for: .unlocked), limit: Self.limit)
        }
    }
}

extension RPCHandle.State {
    /// Drops the collected bytes: the next write begins a request.
    mutating func begin() {
        stage = .collecting
        collected = nil
        length = nil
    }

    /// Discards all data, which must be reported; data in use by a thread when that has ended.
    mutating func discard() {
        if case .collecting = stage, collected == nil { return }
        isLost = true
        guard case .busy = stage else { return begin() }
    }

    /// Reports once that a lock has discarded data.
    ///
    /// - Throws: ENOKEY.
    mutating func throwIfDiscarded() throws(Errno) {
        guard isLost else { return }
        if case .busy = stage { return }
        isLost = false
        throw .noKey
    }
}

/// The rest of a response: generated bytes that have not been read, then those of its source.
struct PartialAnswer: Sendable {
    let source: any RPCResponse
    var rest: StagedSnapshot?
    /// The offset in ``rest`` of the next byte.
    var offset = 0
    /// The charge for ``heldBytes``, while the response waits to be read.
    var charge: MemoryCharge?

    /// An estimate of the memory in bytes.
    var heldBytes: Int { source.heldBytes + (rest?.contents.count ?? 0) }

    /// Returns the rest after `count` bytes; nil if nothing remains.
    func advanced(by count: Int) -> PartialAnswer? {
        var next = self
        next.offset += count
        if let rest, next.offset >= rest.contents.count { (next.rest, next.offset) = (nil, 0) }
        return next.ifAny
    }

    /// This response; nil if nothing remains.
    var ifAny: PartialAnswer? { rest == nil && source.hasEnded ? nil : self }
}

/// The part of a response for one read.
struct ResponseChunk: ~Copyable {
    /// The bytes; nil at its end.
    let bytes: SecretBytes?
    /// The rest; nil if nothing remains.
    let left: PartialAnswer?
}
