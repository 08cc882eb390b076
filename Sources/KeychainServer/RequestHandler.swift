package import Keychain
package import KeychainRPC

/// Answers requests on a keychain. One for each keychain; can be used by several threads.
package struct RequestHandler: Sendable {
    private let engine: QueryEngine
    private let hasSpace: @Sendable (Int) -> Bool
    private let rowsPerFrame: Int

    /// - Parameters:
    ///   - valueLimit: the longest secret that is stored, in bytes.
    ///   - rowsPerFrame: how many items a search looks at before a frame is sent, with or without entries; the default takes
    ///     about 30 ms.
    ///   - hasRoom: whether so many bytes more would leave the room that a deletion needs; else nothing is added or updated.
    package init(
        keychain: KeychainStore, valueLimit: Int = 1 << 20, rowsPerFrame: Int = 8192,
        hasRoom: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) {
        engine = QueryEngine(keychain: keychain, valueLimit: valueLimit)
        self.hasSpace = hasRoom
        self.rowsPerFrame = rowsPerFrame
    }

    /// The longest secret that is stored, in bytes.
    var valueLimit: Int { engine.valueLimit }

    /// Carries out the request that a frame holds; what it changes is committed when this returns.
    ///
    /// - Parameters:
    ///   - list: the frame's property list. What is none is answered with errSecParam.
    ///   - secret: the bytes behind it. Read only where the list says so.
    ///   - willWait: called before a commit, and for a search whose answer takes longer than some look-ups.
    package func handle<Secret: SecretSource & ~Copyable>(
        list: [UInt8], secret: borrowing Secret, by owner: FileOwner, willWait: () -> Void = {}
    ) -> HandledRequest {
        do throws(FrameError) {
            return handle(try ItemRequest(list: list), secret: secret, by: owner, willWait: willWait)
        } catch {
            return HandledRequest(failure: .param)
        }
    }

    /// The same for a request that has been read already.
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
        // A change may rely on the absence of an item; a search does only while the indexes are known to miss rows.
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

/// What comes of a request.
package struct HandledRequest: Sendable {
    /// What it has changed: whoever shows items elsewhere tells it before the answer is read (contract, F10).
    package let changes: [ItemChange]
    let frames: ResponseFrames

    init(changes: [ItemChange] = [], frames: ResponseFrames) {
        self.changes = changes
        self.frames = frames
    }

    init(failure: SecurityStatus) { self.init(frames: ResponseFrames(failure)) }

    /// The answer as bytes.
    package var stream: ResponseStream { ResponseStream(frames) }
}
