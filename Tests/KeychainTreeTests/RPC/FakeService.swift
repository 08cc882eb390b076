import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

@testable import KeychainTree

/// A service whose requests are `?`, two digits of their length, and as many characters: it answers with them, twice.
final class FakeService: RPCBackend {
    struct Script: Sendable {
        /// The chunk size of responses in bytes.
        var pieceSize = 4
        /// Instead of an answer.
        var refusal: KeychainFault?
        /// Whether requests take long.
        var waits = false
        /// Called while a request is carried out.
        var onAnswer: (@Sendable () -> Void)?
        /// Thrown by the n-th piece from now on, once.
        var failures: [Int: KeychainFault] = [:]
        var changes: [ItemChange] = []
    }

    let script = Mutex(Script())
    /// The requests that have been carried out.
    let carriedOut = Mutex<[String]>([])
    let callers = Mutex<[UInt32]>([])

    func length(ofRequestBeginning prefix: RawSpan) throws(Errno) -> Int? {
        guard prefix.byteCount > 0 else { return nil }
        guard prefix.octets[0] == UInt8(ascii: "?") else { throw .invalidArgument }
        guard prefix.byteCount >= 3 else { return nil }
        guard let count = Int(String(decoding: [prefix.octets[1], prefix.octets[2]], as: UTF8.self)) else {
            throw .invalidArgument
        }
        guard count < 90 else { throw .messageTooLong }
        return 3 + count
    }

    func respond(
        to request: borrowing SealedBuffer, from caller: Caller, willWait: () -> Void
    ) throws(KeychainFault) -> (changes: [ItemChange], response: any RPCResponse) {
        let slab: SecretBytes = try request.slab(at: 0, size: request.count)
        let text = String(decoding: [UInt8](copying: slab.bytes).dropFirst(3), as: UTF8.self)
        let script = script.withLock { $0 }
        if script.waits { willWait() }
        script.onAnswer?()
        if let refusal = script.refusal { throw refusal }
        carriedOut.withLock { $0.append(text) }
        callers.withLock { $0.append(caller.userID) }
        return (script.changes, FakeAnswer(text: text + text, service: self, pieceSize: script.pieceSize))
    }

    fileprivate func failure(_ piece: Int) -> KeychainFault? {
        script.withLock { $0.failures.removeValue(forKey: piece) }
    }
}

final class FakeAnswer: RPCResponse {
    private let rest: Mutex<[UInt8]>
    private let service: FakeService
    private let pieceSize: Int
    private let made = Atomic(0)

    init(text: String, service: FakeService, pieceSize: Int) {
        rest = Mutex(Array(text.utf8))
        self.service = service
        self.pieceSize = pieceSize
    }

    var hasEnded: Bool { rest.withLock { $0.isEmpty } }

    var heldBytes: Int { rest.withLock { $0.count } }

    func next() throws(KeychainFault) -> SecretBytes? {
        if let failure = service.failure(made.load(ordering: .relaxed)) { throw failure }
        let piece = rest.withLock { rest in
            defer { rest.removeFirst(min(pieceSize, rest.count)) }
            return Array(rest.prefix(pieceSize))
        }
        guard !piece.isEmpty else { return nil }
        made.add(1, ordering: .relaxed)
        return try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(copying: piece.rawSpan) }
    }
}
