import FileSystemCore
import FileSystemTesting
import Fuse
import Glibc
import Keychain
import KeychainConnection
import KeychainRPC
import KeychainServer
import SecItemTesting
import SecretCrypto
import SystemPackage

@testable import KeychainMount
@testable import KeychainTree

extension Transport {
    /// A real mount of the keychain, and the connection that programs have to one.
    static let mount = Transport(
        "mount", owner: FileOwner(userID: getuid(), groupID: getgid())
    ) { keychain, limit, _ in
        ConnectionClient(connection: MountedKeychain(keychain, valueLimit: limit))
    }
}

/// A keychain of this process, mounted at a temporary mount point while the transport exists.
private final class MountedKeychain: KeychainTransport {
    private let session: MountedSession?
    private let connection: MountConnection

    init(_ keychain: KeychainStore, valueLimit: Int) {
        let tree = KeychainFileSystem(
            keychain: keychain, options: TreeOptions(userID: getuid(), groupID: getgid()), host: CaseHost(),
            commands: CaseCommands(), requests: RPCRequestHandler(keychain, valueLimit: valueLimit, host: CaseHost()))
        let session = try? MountedSession(tree) { options in
            options.receiverServesIO = true
            // The connection answers for this type of mount only.
            options.subtype = MountOperation.subtype
        }
        // Without a mount every case fails, because no daemon responds.
        let path = session?.path ?? "/var/empty"
        self.session = session
        connection = MountConnection { path }
    }

    deinit { session?.stop() }

    func perform(
        _ request: ItemRequest, secret: RawSpan, receive: (borrowing ResponseFrame) -> Void
    ) -> Int32 {
        connection.perform(request, secret: secret, receive: receive)
    }
}

private struct CaseHost: TreeHost {
    let uptime = Duration.zero

    func isDyingOfSignal(_ processID: Int32) -> Bool { false }

    func process(ofThread threadID: Int32) -> ProcessIdentity? { nil }

    func statistics() throws(Errno) -> FileSystemStatistics { try FileSystemStatistics(ofPath: "/") }

    func trimMemory() {}
}

private struct CaseCommands: ControlCommandHandler {
    func status(of tree: KeychainFileSystem) -> [UInt8] { Array("{}\n".utf8) }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        throw .param
    }
}
