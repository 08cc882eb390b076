package import KeychainRPC
internal import SecretCrypto
internal import Synchronization
import SystemPackage

/// The keychain that is mounted: requests go through `.keychainfs/rpc` in the mount (contract, section 9).
///
/// Never waits for ever: not for a daemon that is stopped or stuck, and not for one that has died. Whatever is mounted when
/// a request begins answers it; one that finds another mount than before goes there.
package final class MountConnection: KeychainTransport {
    /// The mount that ``MountDirectory`` finds.
    package static let shared = MountConnection { DefaultMountPoint.path() }

    private let channels: ProcessLanes

    /// `mountPoint`: called, on any thread, whenever the mount is opened. `patience`, in milliseconds: how long the daemon may
    /// be silent, and then not even tell its status.
    package init(
        timeout: Int = MountConnection.defaultTimeout, mountPoint: @escaping @Sendable () -> String
    ) {
        channels = ProcessLanes(mountPoint: mountPoint, timeout: timeout)
    }

    /// In milliseconds.
    package static let defaultTimeout = ProcessLanes.timeout

    package func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32 {
        let secret = request.namesSecret ? secret : RawSpan()
        let head: [UInt8]
        do throws(FrameError) {
            head = try RequestFrame.head(of: request, secretCount: secret.byteCount)
        } catch {
            return error.status
        }
        let isChange = request.operation != .copyMatching
        var hasReceived = false
        do throws(RPCChannel.Failure) {
            return try ask(head, secret) { frame in
                hasReceived = true
                receive(frame)
            }
        } catch {
            guard !isChange, !hasReceived, let status = repeated(head, after: error, receive) else {
                return error.status(isChange: isChange)
            }
            return status
        }
    }

    /// Asks a query once more that failed for a reason which may be gone; nil for any other reason.
    private func repeated(
        _ head: [UInt8], after failure: RPCChannel.Failure, _ receive: (borrowing ResponseFrame) -> Void
    ) -> Int32? {
        guard case .lost(let errno) = failure, errno.meansAnotherMount || errno == .noMemory else { return nil }
        do throws(RPCChannel.Failure) {
            guard errno == .noMemory else { return try ask(head, RawSpan(), receive) }
            // Large values that many callers want at the same time: one by one they fit.
            return try channels.current.turn.withLock { _ throws(RPCChannel.Failure) in
                try ask(head, RawSpan(), receive)
            }
        } catch {
            return error.status(isChange: false)
        }
    }

    private func ask(
        _ head: [UInt8], _ secret: RawSpan, _ receive: (borrowing ResponseFrame) -> Void
    ) throws(RPCChannel.Failure) -> Int32 {
        var call = RPCCall(channels.current)
        var reader = ResponseReader()
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
