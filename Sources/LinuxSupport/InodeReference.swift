internal import CLinuxSupport
internal import Glibc

/// A reference to a file's inode, which keeps the inode number from being reused while it exists, even if the file is deleted.
///
/// Grants no access to the file. Its end releases no lock of this process, unlike the close of any other descriptor
/// (O_PATH, open(2)).
public final class InodeReference: Sendable {
    private let descriptor: Int32

    /// Refers to the file that `path` resolves to; nil if it cannot be opened.
    public init?(path: String) {
        let opened = unsafe open_inode(path)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }
}
