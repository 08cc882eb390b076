import Foundation
import Fuse
import LinuxSupport

/// An empty directory that is deleted with its contents when this object is deinitialized.
public final class TemporaryDirectory: Sendable {
    /// Absolute, without symbolic links.
    public let path: String

    public init() throws {
        let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let made = place.appendingPathComponent("keychainfs-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: made, withIntermediateDirectories: false)
        path = made.path
    }

    deinit {
        // A mount that a failing test has left would be emptied.
        guard (try? MountTable.current())?.entries.contains(where: { $0.path.hasPrefix(path) }) != true else { return }
        chmod(path, 0o700)
        try? FileManager.default.removeItem(atPath: path)
    }
}
