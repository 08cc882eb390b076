package import Keychain
import LinuxSupport

extension KeychainDate {
    /// The current time of the system clock, with nanoseconds.
    package static var now: KeychainDate {
        let time = SystemClock.now
        return KeychainDate(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }
}
