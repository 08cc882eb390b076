import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// An open `rpc` file: a request as it is collected, then its answer as it is read; one at a time.
///
/// Both are kept sealed under a key that a lock wipes; what a lock takes away is told once, as ENOKEY. A duplicate of the
/// descriptor, in another process too, is the same exchange. No lock of the tree is taken under its own.
final class RPCHandle: Sendable {
    /// What the last request has come to.
    enum Stage {
        /// It is being written, or there is none.
        case collecting
        /// All of it is there; the next read carries it out.
        case whole(StagedSnapshot)
        /// A thread is carrying it out, or making the next bytes of its answer.
        case busy
        case responding(PartialAnswer)
    }

    struct State: ~Copyable {
        var stage = Stage.collecting
        /// While collecting; nil where nothing has been written.
        var collected: SealedBuffer?
        /// Of the whole request in bytes, once it can be told.
        var length: Int?
        /// A lock has taken away what nobody has been told of yet.
        var isLost = false
    }

    private let state = Mutex(State())
    private let service: any RPCBackend
    private let keys: StagedValueKeys
    /// What it keeps is charged to it: the share of the user who opened it.
    private let share: MemoryBudget.Share

    /// In bytes; to read a longer one takes its time.
    private static let shortRequest = 8 << 10
    /// In bytes; no request is longer. What the service refuses is much shorter.
    private static let limit = 1 << 30

    init(service: any RPCBackend, keys: StagedValueKeys, share: MemoryBudget.Share) {
        self.service = service
        self.share = share
        self.keys = keys
    }

    /// What it holds, in bytes.
    var weight: Int {
        state.withLock { state in
            switch state.stage {
            case .collecting: state.collected?.count ?? 0
            case .whole(let request): request.contents.count
            case .busy: 0
            case .responding(let response): response.rest?.contents.count ?? 0
            }
        }
    }

    /// After a lock: what has been written and not carried out, or not been answered yet, is gone.
    func discard() {
        state.withLock { $0.lose() }
    }

    // MARK: Writing

    /// Collects bytes of a request: all of them, or none and an error.
    ///
    /// - Throws: EBUSY until the answer to the last one has been read to its end. EMSGSIZE for a request that is too long, or
    ///   longer than it says, EINVAL for what is none, ENOKEY after a lock, ENOMEM, ENOSPC: what was collected is dropped with these,
    ///   and the next write begins a request.
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
        state.stage = .whole(StagedSnapshot(bytes))
    }

    /// Of the whole request, as far as its first bytes tell.
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

    /// What a read has to do.
    enum ReadAction {
        /// Nothing: nobody has asked anything.
        case none
        case execute(StagedSnapshot)
        case resume(PartialAnswer)
    }

    /// Gives a read its work. Whoever gets some ends it with ``finish(_:)``; nobody else gets any meanwhile.
    ///
    /// - Throws: EAGAIN while the request is not whole, EBUSY while another thread is at it, ENOKEY after a lock.
    func begin() throws(Errno) -> ReadAction {
        try state.withLock { (state) throws(Errno) -> ReadAction in
            try state.throwIfDiscarded()
            switch state.stage {
            case .collecting:
                guard state.collected == nil else { throw .resourceTemporarilyUnavailable }
                return .none
            case .busy: throw .resourceBusy
            case .whole(let request):
                state.stage = .busy
                return .execute(request)
            case .responding(let response):
                state.stage = .busy
                return .resume(response)
            }
        }
    }

    /// What is left of the work: nil if the answer has ended, or its rest is lost. A lock that came meanwhile takes it away.
    func finish(_ left: PartialAnswer?) {
        putBack(left.map { .resume($0) } ?? .none)
    }

    /// The work has not been done: the next read gets it.
    func putBack(_ work: ReadAction) {
        state.withLock { state in
            switch work {
            case .none: state.stage = .collecting
            case .execute(let request): state.stage = .whole(request)
            case .resume(var response):
                response.charge = share.force(response.heldBytes)
                state.stage = .responding(response)
            }
            guard state.isLost else { return }
            state.isLost = false
            state.lose()
        }
    }

    /// Carries out a request. `allocate` while answers that are not read yet take too much memory.
    func respond(
        to request: StagedSnapshot, from caller: Caller, willWait: () -> Void
    ) throws(KeychainFault) -> (changes: [ItemChange], response: any RPCResponse) {
        guard !share.isExhausted else { throw .allocate }
        if request.contents.count > Self.shortRequest { willWait() }
        return try service.respond(to: request.contents, from: caller, willWait: willWait)
    }

    /// Makes at most `size` bytes of an answer, and tells what is left of it then.
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
    /// Drops what has been collected: a request begins with the next write.
    mutating func begin() {
        stage = .collecting
        collected = nil
        length = nil
    }

    /// What there is is gone, and somebody has to be told; what a thread is at, when it has done with it.
    mutating func lose() {
        if case .collecting = stage, collected == nil { return }
        isLost = true
        guard case .busy = stage else { return begin() }
    }

    /// ENOKEY, once, for what a lock has taken away.
    mutating func throwIfDiscarded() throws(Errno) {
        guard isLost else { return }
        if case .busy = stage { return }
        isLost = false
        throw .noKey
    }
}

/// What is left of an answer: bytes that were made and not read yet, then what its source makes.
struct PartialAnswer: Sendable {
    let source: any RPCResponse
    var rest: StagedSnapshot?
    /// Of ``rest``, where it goes on.
    var offset = 0
    /// For ``heldBytes``, while the answer waits to be read.
    var charge: MemoryCharge?

    /// About how much memory it takes, in bytes.
    var heldBytes: Int { source.heldBytes + (rest?.contents.count ?? 0) }

    /// Nil where there is nothing left.
    func advanced(by count: Int) -> PartialAnswer? {
        var next = self
        next.offset += count
        if let rest, next.offset >= rest.contents.count { (next.rest, next.offset) = (nil, 0) }
        return next.ifAny
    }

    /// Nil where there is nothing left.
    var ifAny: PartialAnswer? { rest == nil && source.hasEnded ? nil : self }
}

/// What one read gets of an answer.
struct ResponseChunk: ~Copyable {
    /// Nil at its end.
    let bytes: SecretBytes?
    /// Nil if that was all.
    let left: PartialAnswer?
}
