import CFuse3
import Glibc

/// The lock owner of the SETATTR that this thread serves, which libfuse does not pass on.
///
/// A thread-specific value (pthread_key_create(3)), set by the loop and read by the operation.
enum CurrentMessage {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()

    static var lockOwner: UInt64 {
        get { UInt64(UInt(bitPattern: unsafe pthread_getspecific(key))) }
        set { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(newValue))) }
    }
}
