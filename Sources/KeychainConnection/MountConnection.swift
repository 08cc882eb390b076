package import KeychainRPC
internal import SecretCrypto
internal import Synchronization
import SystemPackage

/// The mounted keychain. Requests are sent through `.keychainfs/rpc` in the mount (contract, section 9).
///
/// No call blocks forever, even if a daemon is stopped, stuck or dead. Each request is sent to the keychain that is
/// mounted when it begins, even if that replaced another mount.
package final class MountConnection: KeychainTransport {
    /// The connection to the default mount point.
    package static let shared = MountConnection { DefaultMountPoint.path() }

    private let channels: ProcessLanes

    /// - Parameters:
    ///   - mountPoint: Called on any thread, each time the mount is opened.
    ///   - timeout: How long the daemon may send no reply, in milliseconds. Its status is read before the connection
    ///     gives up.
    package init(
        timeout: Int = MountConnection.defaultTimeout, mountPoint: @escaping @Sendable () -> String
    ) {
        channels = ProcessLanes(mountPoint: mountPoint, timeout: timeout)
    }

    /// Milliseconds.
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

    /// Repeats a query that failed for a temporary reason. Returns nil for all other reasons.
    private func repeated(
        _ head: [UInt8], after failure: RPCChannel.Failure, _ receive: (borrowing ResponseFrame) -> Void
    ) -> Int32? {
        guard case .lost(let errno) = failure, errno.meansAnotherMount || errno == .noMemory else { return nil }
        do throws(RPCChannel.Failure) {
            guard errno == .noMemory else { return try ask(head, RawSpan(), receive) }
            // Concurrent requests for large values exceed the locked memory; they fit sequentially.
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
    /// Whether the value refers to a secret.
    fileprivate var namesSecret: Bool {
        query.values.contains(.secret(0)) || attributes.values.contains(.secret(0))
    }
}
