import Keychain
import KeychainRPC

/// The frames of one response, each created when it is requested.
struct ResponseFrames: Sendable {
    private enum Results: Sendable {
        case matches(QueryCursor, rowsPerFrame: Int)
        case entry(QueryEntry)
        case none
        case failure(SecurityStatus)
    }

    private var results: Results
    private(set) var hasEnded = false

    /// Creates the response of a search. After every `rowsPerFrame` examined rows it returns a frame, even one without
    /// entries. Other requests are served between frames, and the search stops if its client has given up.
    init(_ cursor: QueryCursor, rowsPerFrame: Int) {
        results = .matches(cursor, rowsPerFrame: rowsPerFrame)
    }

    /// Creates the response of SecItemAdd.
    init(_ result: QueryResult) {
        results =
            switch result {
            case .one(let entry): .entry(entry)
            case .none, .list: .none
            }
    }

    /// Creates a response without a result.
    init(_ failure: SecurityStatus?) {
        results = failure.map { .failure($0) } ?? .none
    }

    /// Returns the next frame, or nil after the last.
    mutating func next() -> OutgoingFrame? {
        guard !hasEnded else { return nil }
        do throws(SecurityStatus) {
            return try frame()
        } catch {
            return end(with: error)
        }
    }

    /// Ends the response with a failure, regardless of the remaining results.
    mutating func end(with failure: SecurityStatus) -> OutgoingFrame {
        hasEnded = true
        return OutgoingFrame(ending: ResponseStatus(status: failure.rawValue))
    }

    private mutating func frame() throws(SecurityStatus) -> OutgoingFrame {
        var frame = OutgoingFrame()
        var isList = false
        switch results {
        case .failure(let status): throw status
        case .none: break
        case .entry(let entry): frame.append(entry)
        case .matches(var cursor, let rowsPerFrame):
            // Released first, so that the value is changed in place and not copied.
            results = .none
            var budget = rowsPerFrame
            while !frame.isFull, let entry = try cursor.next(lookingAt: &budget) { frame.append(entry) }
            isList = cursor.isList
            if !cursor.hasEnded {
                results = .matches(cursor, rowsPerFrame: rowsPerFrame)
                return frame
            }
        }
        hasEnded = true
        frame.ending = ResponseStatus(status: 0, isList: isList)
        return frame
    }
}
