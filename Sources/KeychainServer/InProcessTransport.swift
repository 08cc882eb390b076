import Keychain
package import KeychainRPC
internal import SecretCrypto

/// A keychain of this process, accessed without a mount or a wire format. Returns the same results as a mount of it.
package struct InProcessTransport: KeychainTransport {
    private let service: RequestHandler
    private let owner: FileOwner
    /// The number of attempts to allocate locked memory. Each waits up to a second.
    private static let attempts = 10

    /// - Parameter owner: The owner of the files of added items, when the keychain is mounted later.
    package init(_ service: RequestHandler, owner: FileOwner) {
        self.service = service
        self.owner = owner
    }

    private static func locked(_ bytes: RawSpan) throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) {
            var copy = try SecretBytes.waiting(count: bytes.byteCount, attempts: attempts)
            var output = copy.mutableBytes
            _ = output.write(bytes)
            return copy
        } catch {
            throw KeychainFault(error)
        }
    }

    package func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32 {
        do throws(KeychainFault) {
            guard secret.byteCount <= service.valueLimit else { throw .dataTooLarge }
            var frames = service.handle(request, secret: try Self.locked(secret), by: owner).frames
            while let frame = frames.next() {
                receive(try ResponseFrame(frame))
                if let ending = frame.ending { return ending.status }
            }
            return SecurityStatus.internalError.rawValue
        } catch {
            return SecurityStatus(error).rawValue
        }
    }
}

extension ResponseFrame {
    /// Opens the secrets of `frame`.
    fileprivate init(_ frame: OutgoingFrame) throws(KeychainFault) {
        let counts = frame.secrets.map(\.count)
        let secrets = try Self.open(frame.secrets, count: counts.reduce(0, +))
        do throws(FrameError) {
            try self.init(
                entries: frame.entries, isLast: frame.ending != nil, status: frame.ending?.status ?? 0,
                isList: frame.ending?.isList ?? false, secrets: secrets, counts: counts)
        } catch {
            throw .decode
        }
    }

    private static func open(_ secrets: [SealedSecret], count: Int) throws(KeychainFault) -> SecretBytes {
        var opened = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(count: count) }
        var output = opened.mutableBytes
        var start = 0
        for secret in secrets {
            var destination = output._mutatingExtracting(start..<start + secret.count)
            guard try secret.read(at: 0, into: &destination) == secret.count else { throw .decode }
            start += secret.count
        }
        return opened
    }
}
