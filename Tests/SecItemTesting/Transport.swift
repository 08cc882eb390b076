package import Keychain
package import KeychainServer

/// The path from a client to the query engine. The same cases run on every transport.
package struct Transport: Sendable, CustomStringConvertible {
    package typealias MakeClient = @Sendable (KeychainStore, _ valueLimit: Int, LastChanges) -> any SecItemClient

    package let description: String
    /// Whether the client sets what the last call has changed.
    package let reportsChanges: Bool
    /// The owner of items that a client adds.
    package let owner: FileOwner
    package let makeClient: MakeClient

    package init(
        _ name: String, reportsChanges: Bool = false, owner: FileOwner = Transport.defaultOwner,
        _ makeClient: @escaping MakeClient
    ) {
        description = name
        self.reportsChanges = reportsChanges
        self.owner = owner
        self.makeClient = makeClient
    }

    /// The owner for clients within this process.
    package static let defaultOwner = FileOwner(userID: 7, groupID: 8)

    /// No way at all.
    package static let engine = Transport("engine", reportsChanges: true) { keychain, limit, changes in
        EngineClient(engine: QueryEngine(keychain: keychain, valueLimit: limit), changes: changes)
    }

    /// Through `InProcessTransport`.
    package static let local = Transport("local connection") { keychain, limit, _ in
        let service = RequestHandler(keychain: keychain, valueLimit: limit)
        return ConnectionClient(connection: InProcessTransport(service, owner: defaultOwner))
    }

    /// Each request and each answer is bytes on the way, as through the file of a mount.
    package static let frames = Transport("frames", reportsChanges: true) { keychain, limit, changes in
        let service = RequestHandler(keychain: keychain, valueLimit: limit)
        return ConnectionClient(connection: FrameConnection(service: service, changes: changes))
    }
}
