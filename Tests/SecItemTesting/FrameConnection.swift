internal import Keychain
package import KeychainRPC
package import KeychainServer
internal import SecretCrypto

/// A connection to a service in this process that makes bytes of everything, kept sealed as a mount keeps them.
package struct FrameConnection: KeychainTransport {
    private let service: RequestHandler
    private let changes: LastChanges
    private let key: RevocableSecret?

    package init(service: RequestHandler, changes: LastChanges) {
        self.service = service
        self.changes = changes
        key = try? RevocableSecret(SecretBytes(randomCount: 32))
    }

    package func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32 {
        do {
            var stream = try respond(to: RequestFrame.bytes(of: request, secret: SecretBytes(copying: secret))).stream
            var reader = ResponseReader()
            while let piece = try stream.next() {
                // Cut where no frame ends.
                let middle = piece.count / 2
                try reader.append(piece.bytes.extracting(0..<middle), receive: receive)
                try reader.append(piece.bytes.extracting(middle..<piece.count), receive: receive)
            }
            return reader.status ?? SecurityStatus.internalError.rawValue
        } catch let status as SecurityStatus {
            return status.rawValue
        } catch FrameError.malformed {
            return SecurityStatus.param.rawValue
        } catch {
            return SecurityStatus.allocate.rawValue
        }
    }

    private func respond(to frame: borrowing SecretBytes) throws -> HandledRequest {
        guard let key else { throw SecurityStatus.allocate }
        var kept = SealedBuffer(key: key, limit: frame.count)
        try kept.write(frame.bytes, at: 0)
        let response = try service.handle(frame: kept, by: Transport.defaultOwner)
        if !response.changes.isEmpty { changes.set(response.changes) }
        return response
    }
}
