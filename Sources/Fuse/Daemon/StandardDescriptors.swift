import CFuse3
import Glibc

/// The descriptors 0, 1 and 2.
public enum StandardDescriptors {
    /// Opens /dev/null in the place of each that is closed.
    public static func ensure() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one: those below are open by now.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }
}
