package import Keychain
package import KeychainRPC

/// Carries out requests on a keychain. There is one instance per keychain; several threads can use it concurrently.
package struct RequestHandler: Sendable {
    private let engine: QueryEngine
    private let hasSpace: @Sendable (Int) -> Bool
    private let rowsPerFrame: Int

    /// - Parameters:
    ///   - valueLimit: The maximum size of a stored secret in bytes.
    ///   - rowsPerFrame: The number of items that a search examines before it sends a frame, even one without entries.
    ///     The default takes about 30 ms.
    ///   - hasSpace: Returns whether that many additional bytes would leave the free space that a deletion needs. If
    ///     not, no item is added or updated.
    package init(
        keychain: KeychainStore, valueLimit: Int = 1 << 20, rowsPerFrame: Int = 8192,
        hasSpace: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) {
        engine = QueryEngine(keychain: keychain, valueLimit: valueLimit)
        self.hasSpace = hasSpace
        self.rowsPerFrame = rowsPerFrame
    }

    /// The maximum size of a stored secret in bytes.
    var valueLimit: Int { engine.valueLimit }

    /// Carries out the request of a frame. Its changes are committed when the method returns.
    ///
    /// - Parameters:
    ///   - list: The frame's property list. An invalid list results in errSecParam.
    ///   - secret: The bytes after the list. They are read only if the list refers to them.
    ///   - willWait: Called before a commit, and before a search that takes longer than a few lookups.
    package func handle<Secret: SecretSource & ~Copyable>(
        list: [UInt8], secret: borrowing Secret, by owner: FileOwner, willWait: () -> Void = {}
    ) -> HandledRequest {
        do throws(FrameError) {
            return handle(try ItemRequest(list: list), secret: secret, by: owner, willWait: willWait)
        } catch {
            return HandledRequest(failure: .param)
        }
    }

    /// Carries out a request that has been decoded.
    package func handle<Secret: SecretSource & ~Copyable>(
        _ request: ItemRequest, secret: borrowing Secret, by owner: FileOwner, willWait: () -> Void = {}
    ) -> HandledRequest {
        do throws(SecurityStatus) {
            return try execute(request, secret: secret, by: owner, willWait)
        } catch {
            return HandledRequest(failure: error)
        }
    }

    private func execute<Secret: SecretSource & ~Copyable>(
        _ request: ItemRequest, secret: borrowing Secret, by owner: FileOwner, _ willWait: () -> Void
    ) throws(SecurityStatus) -> HandledRequest {
        // A change may depend on the absence of an item. A search does so only while the indexes are known to lack
        // rows.
        if request.operation != .copyMatching || engine.keychain.missesRows {
            willWait()
            engine.keychain.awaitIndexes()
        }
        let client = QueryClient(
            accessGroups: request.accessGroups.map { Array($0.utf8) }, userID: owner.userID,
            groupID: owner.groupID)
        let query = request.query.mapValues { QueryValue($0) }
        switch request.operation {
        case .add:
            try checkSpace(for: secret.secretCount)
            let (result, changes) = try engine.add(query, secret: secret, by: client)
            return HandledRequest(changes: changes, frames: ResponseFrames(result))
        case .copyMatching:
            let matches = try engine.matches(of: query, by: client)
            if !matches.isLookUp { willWait() }
            return HandledRequest(frames: ResponseFrames(matches, rowsPerFrame: rowsPerFrame))
        case .update:
            try checkSpace(for: secret.secretCount)
            let attributes = request.attributes.mapValues { QueryValue($0) }
            let changes = try engine.update(query, to: attributes, secret: secret, by: client)
            return HandledRequest(changes: changes, frames: ResponseFrames(nil))
        case .delete:
            return HandledRequest(changes: try engine.delete(query, by: client), frames: ResponseFrames(nil))
        }
    }

    private func checkSpace(for count: Int) throws(SecurityStatus) {
        guard hasSpace(count) else { throw .diskFull }
    }
}

/// The result of a request.
package struct HandledRequest: Sendable {
    /// The changes. A file system that shows the items notifies the kernel of them before the response is read
    /// (contract, F10).
    package let changes: [ItemChange]
    let frames: ResponseFrames

    init(changes: [ItemChange] = [], frames: ResponseFrames) {
        self.changes = changes
        self.frames = frames
    }

    init(failure: SecurityStatus) { self.init(frames: ResponseFrames(failure)) }

    /// The response as bytes.
    package var stream: ResponseStream { ResponseStream(frames) }
}
