import CFuse3
import Glibc

/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens /dev/null for each of them that is closed. Standard output cannot be written then: a result that the caller does
    /// not get is a failure.
    ///
    /// - Parameter closesOnExec: Whether a program that replaces this one finds them closed, as its caller has left them.
    public static func ensure(closesOnExec: Bool = false) {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) uses the lowest free number, which is this one, because those below are open.
            let flags = (descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR) | (closesOnExec ? O_CLOEXEC : 0)
            _ = unsafe open("/dev/null", flags)
        }
    }
}
