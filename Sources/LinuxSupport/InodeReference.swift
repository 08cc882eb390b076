internal import CLinuxSupport
internal import Glibc
public import SystemPackage

/// A reference to a file's inode, which keeps the inode number from being reused while it exists, even if the file is deleted.
///
/// Grants no access to the file. Its end releases no lock of this process, unlike the close of any other descriptor
/// (O_PATH, open(2)).
public final class InodeReference: Sendable {
    private let descriptor: Int32
    public let file: FileIdentity

    /// Refers to the file that `path` resolves to.
    ///
    /// - Throws: The error of open(2), such as `noSuchFileOrDirectory`, or of fstat(2).
    public init(path: String) throws(Errno) {
        let opened = unsafe open_inode(path)
        guard opened >= 0 else { throw Errno(rawValue: -opened) }
        do throws(Errno) {
            file = FileIdentity(try Stat(FileDescriptor(rawValue: opened)))
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
    }

    deinit { close(descriptor) }
}
