public import SystemPackage

/// The reason why a directory cannot be a mount point.
public enum MountPointError: Error, Hashable, Sendable {
    case missing
    case notDirectory
    /// The directory is not empty: a mount would hide its contents.
    case notEmpty
    /// A file system of this type is mounted there.
    case alreadyMounted(type: String)
    /// Another user owns the directory.
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
