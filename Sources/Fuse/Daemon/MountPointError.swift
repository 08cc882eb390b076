public import SystemPackage

/// Why a directory cannot be mounted on.
public enum MountPointError: Error, Hashable, Sendable {
    case missing
    case notDirectory
    /// Something lies in it: it would be hidden, and what is written there by mistake not be seen.
    case notEmpty
    /// Something is mounted there already: the type of it.
    case alreadyMounted(type: String)
    /// It belongs to another user.
    case notOwned
    case system(Errno, call: String)
}

extension MountPointError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing: "the mount point does not exist"
        case .notDirectory: "the mount point is not a directory"
        case .notEmpty: "the mount point is not empty"
        case .alreadyMounted(let type): "something is mounted there already (\(type))"
        case .notOwned: "the mount point belongs to another user"
        case .system(let error, let call): "\(call): \(error)"
        }
    }
}
