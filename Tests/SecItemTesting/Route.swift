package import Keychain
package import KeychainService

/// Which way a call takes to the engine. The same cases run on every one.
package struct Route: Sendable, CustomStringConvertible {
    package typealias MakeClient = @Sendable (KeychainStore, _ valueLimit: Int, LastChanges) -> any SecItemClient

    package let description: String
    /// Whether the client sets what the last call has changed.
    package let tellsChanges: Bool
    /// The owner of what a client adds.
    package let caller: Caller
    package let makeClient: MakeClient

    package init(
        _ name: String, tellsChanges: Bool = false, caller: Caller = Route.caller,
        _ makeClient: @escaping MakeClient
    ) {
        description = name
        self.tellsChanges = tellsChanges
        self.caller = caller
        self.makeClient = makeClient
    }

    /// The one that clients within this process are.
    package static let caller = Caller(userID: 7, groupID: 8)

    /// No way at all.
    package static let engine = Route("engine", tellsChanges: true) { keychain, limit, changes in
        EngineClient(engine: QueryEngine(keychain: keychain, valueLimit: limit), changes: changes)
    }

    /// Through `LocalConnection`.
    package static let local = Route("local connection") { keychain, limit, _ in
        let service = ItemService(keychain: keychain, valueLimit: limit)
        return ConnectionClient(connection: LocalConnection(service, caller: caller))
    }

    /// Each request and each answer is bytes on the way, as through the file of a mount.
    package static let frames = Route("frames", tellsChanges: true) { keychain, limit, changes in
        let service = ItemService(keychain: keychain, valueLimit: limit)
        return ConnectionClient(connection: FrameConnection(service: service, changes: changes))
    }
}
