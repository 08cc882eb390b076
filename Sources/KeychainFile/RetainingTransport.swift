import KeychainConnection
import KeychainRPC
import SecretCrypto

/// A transport to an open keychain that keeps it open.
struct RetainingTransport: KeychainTransport {
    private let owner: OpenKeychain

    init(_ owner: OpenKeychain) {
        self.owner = owner
    }

    func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32 {
        guard !owner.isClosed else { return ConnectionStatus.notAvailable }
        return owner.connection.perform(request, secret: secret, receive: receive)
    }
}
