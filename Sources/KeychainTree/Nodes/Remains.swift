import FileSystemCore
import Synchronization

/// The attributes of a directory that was removed while it was open, for fstat(2) and fchmod(2).
final class Remains: Sendable {
    private let kept = Mutex<Attributes?>(nil)

    /// The attributes; nil while the directory exists.
    var attributes: Attributes? { kept.withLock { $0 } }

    /// Stores the last attributes of a removed directory.
    func keep(_ last: Attributes, at time: Timestamp) {
        var last = last
        last.linkCount = 0
        last.changeTime = max(last.changeTime, time)
        kept.withLock { $0 = last }
    }

    /// Changes the attributes, visible only through the directory's descriptors.
    func apply(_ changes: AttributeChanges, at time: Timestamp) -> Attributes? {
        kept.withLock { kept in
            guard var attributes = kept else { return nil }
            attributes.permissions = changes.permissions ?? attributes.permissions
            attributes.userID = changes.userID ?? attributes.userID
            attributes.groupID = changes.groupID ?? attributes.groupID
            attributes.accessTime = changes.accessTime?.timestamp(time) ?? attributes.accessTime
            attributes.modificationTime = changes.modificationTime?.timestamp(time) ?? attributes.modificationTime
            attributes.changeTime = max(attributes.changeTime, time)
            kept = attributes
            return attributes
        }
    }
}

extension AttributeChanges.Time {
    fileprivate func timestamp(_ now: Timestamp) -> Timestamp {
        switch self {
        case .now: now
        case .at(let time): time
        }
    }
}
