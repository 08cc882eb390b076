import Keychain
import KeychainRPC

/// The frames of one answer, each made when it is asked for.
struct ResponseFrames: Sendable {
    private enum Results: Sendable {
        case matches(QueryCursor, rowsPerFrame: Int)
        case entry(QueryEntry)
        case none
        case failure(SecurityStatus)
    }

    private var results: Results
    private(set) var hasEnded = false

    /// What SecItemCopyMatching finds. Where it finds little a frame without an entry says so after so many rows: while that
    /// is sent others are served, and for who has given up nothing more is searched.
    init(_ cursor: QueryCursor, rowsPerFrame: Int) {
        results = .matches(cursor, rowsPerFrame: rowsPerFrame)
    }

    /// What SecItemAdd gives back.
    init(_ result: QueryResult) {
        results =
            switch result {
            case .one(let entry): .entry(entry)
            case .none, .list: .none
            }
    }

    /// An answer without a result.
    init(_ failure: SecurityStatus?) {
        results = failure.map { .failure($0) } ?? .none
    }

    /// Nil after the last one.
    mutating func next() -> OutgoingFrame? {
        guard !hasEnded else { return nil }
        do throws(SecurityStatus) {
            return try frame()
        } catch {
            return end(with: error)
        }
    }

    /// The answer ends with a failure, whatever there would have been.
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
            // Not held twice while it is changed.
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
