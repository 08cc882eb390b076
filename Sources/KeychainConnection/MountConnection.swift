package import KeychainRPC
package import SecretCrypto
import SystemPackage

/// The keychain that is mounted: requests go through `.keychainfs/rpc` in the mount (contract, section 9).
///
/// Never waits for ever: not for a daemon that is stopped or stuck, and not for one that has died. Whatever is mounted when
/// a request begins answers it; one that finds another mount than before goes there.
package final class MountConnection: ItemConnection {
    /// The mount that ``MountPoint`` finds.
    package static let shared = MountConnection { MountPoint.path() }

    private let lanes: ProcessLanes

    /// `mountPoint`: called, on any thread, whenever the mount is opened. `patience`, in milliseconds: how long the daemon may
    /// be silent, and then not even tell its status.
    package init(
        patience: Int = MountConnection.standardPatience, mountPoint: @escaping @Sendable () -> String
    ) {
        lanes = ProcessLanes(mountPoint: mountPoint, patience: patience)
    }

    /// In milliseconds.
    package static let standardPatience = ProcessLanes.patience

    package func perform(
        _ request: ItemRequest, secret: borrowing SecretBytes, receive: (borrowing AnswerFrame) -> Void
    ) -> Int32 {
        let count = request.namesSecret ? secret.count : 0
        let head: [UInt8]
        do throws(FrameError) {
            head = try RequestFrame.head(of: request, secretCount: count)
        } catch {
            return error.status
        }
        var mayRepeat = request.operation == .copyMatching
        while true {
            do throws(Lane.Failed) {
                return try ask(head, secret.bytes.extracting(0..<count)) { frame in
                    mayRepeat = false
                    receive(frame)
                }
            } catch {
                guard mayRepeat, case .lost(let errno) = error, errno.meansAnotherMount else {
                    return error.status(isChange: request.operation != .copyMatching)
                }
                mayRepeat = false
            }
        }
    }

    private func ask(
        _ head: [UInt8], _ secret: RawSpan, _ receive: (borrowing AnswerFrame) -> Void
    ) throws(Lane.Failed) -> Int32 {
        var call = Call(lanes.current)
        var reader = AnswerReader()
        var piece = try call.ask(head.rawSpan, secret: secret)
        while piece.count > 0 {
            do throws(FrameError) {
                try reader.append(piece.bytes, receive: receive)
            } catch {
                throw .lost(error == .outOfSecretMemory ? .noMemory : .protocolError)
            }
            if let status = reader.status {
                call.finish()
                return status
            }
            piece = try call.next()
        }
        throw .lost(.protocolError)
    }
}

extension ItemRequest {
    /// Whether a secret belongs to it.
    fileprivate var namesSecret: Bool {
        query.values.contains(.secret(0)) || attributes.values.contains(.secret(0))
    }
}
