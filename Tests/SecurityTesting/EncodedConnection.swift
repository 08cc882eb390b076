import Keychain
import KeychainRPC
import KeychainService
import SecretCrypto

/// A keychain in this process, with every byte of a message that would go through a mount.
package struct EncodedConnection: ItemConnection {
    private let service: ItemService
    private let onChange: @Sendable ([ItemChange]) -> Void

    /// - Parameter onChange: gets what each call has changed.
    package init(_ keychain: Keychain, onChange: @escaping @Sendable ([ItemChange]) -> Void = { _ in }) {
        service = ItemService(keychain: keychain)
        self.onChange = onChange
    }

    package func perform(
        _ request: ItemRequest, secret: borrowing SecretBytes, receive: (borrowing AnswerFrame) -> Void
    ) -> Int32 {
        do {
            let head = try RequestFrame.head(of: request, secretCount: secret.count)
            let served = service.answer(
                list: Array(head[FrameHeader.byteCount...]), secret: secret, by: Caller(userID: 7, groupID: 8))
            onChange(served.changes)
            var stream = served.stream
            var reader = AnswerReader()
            while let piece = try stream.next() { try reader.append(piece.bytes, receive: receive) }
            return reader.status ?? SecurityStatus.internalError.rawValue
        } catch let error as SecurityStatus {
            return error.rawValue
        } catch {
            return SecurityStatus.param.rawValue
        }
    }
}
