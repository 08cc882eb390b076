import FileSystemCore
import Keychain
import KeychainRPC
import KeychainServer
import KeychainTree
import SecretCrypto
import Synchronization
import SystemPackage

/// Executes the requests of `.keychainfs/rpc` on the mounted keychain.
struct RPCRequestHandler: RPCBackend {
    private let service: RequestHandler
    /// The maximum size of a request in bytes.
    private let limit: Int

    /// - Parameters:
    ///   - valueLimit: The limit of the tree.
    ///   - host: The system of the tree.
    init(_ keychain: KeychainStore, valueLimit: Int, host: any TreeHost) {
        service = RequestHandler(keychain: keychain, valueLimit: valueLimit) { count in
            let hasSpace = try? keychain.hasSpace(for: count, longest: valueLimit) { () throws(Errno) in
                try host.statistics().availableBytes
            }
            return hasSpace ?? true
        }
        limit = RequestFrame.limit(valueLimit: valueLimit)
    }

    func length(ofRequestBeginning prefix: RawSpan) throws(Errno) -> Int? {
        do throws(FrameError) {
            return try RequestFrame.count(prefix: prefix, limit: limit)
        } catch .tooLong {
            throw .messageTooLong
        } catch {
            throw .invalidArgument
        }
    }

    func respond(
        to request: borrowing SealedBuffer, from caller: Caller, willWait: () -> Void
    ) throws(KeychainFault) -> (changes: [ItemChange], response: any RPCResponse) {
        let served = try service.handle(
            frame: request, by: FileOwner(userID: caller.userID, groupID: caller.groupID),
            willWait: willWait)
        return (served.changes, StreamedResponse(served.stream))
    }
}

/// A response that is generated while it is read.
private final class StreamedResponse: RPCResponse {
    private let stream: Mutex<ResponseStream>

    init(_ stream: ResponseStream) { self.stream = Mutex(stream) }

    var hasEnded: Bool { stream.withLock { $0.hasEnded } }

    var heldBytes: Int { stream.withLock { $0.heldBytes } }

    func next() throws(KeychainFault) -> SecretBytes? {
        do throws(SecurityStatus) {
            return try stream.withLock { (stream) throws(SecurityStatus) -> SecretBytes? in try stream.next() }
        } catch .interactionNotAllowed {
            throw .interactionNotAllowed
        } catch .allocate {
            throw .allocate
        } catch {
            throw .decode
        }
    }
}
