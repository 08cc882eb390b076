import Glibc

/// The user accounts of the system (getpwnam(3), getpwuid(3)).
public enum UserAccount {
    /// Returns the ID of a user; nil if the name does not exist.
    public static func identifier(of name: String) -> UInt32? {
        var (account, result) = unsafe (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard unsafe getpwnam_r(name, &account, &buffer, buffer.count, &result) == 0, unsafe result != nil else {
            return nil
        }
        return unsafe account.pw_uid
    }

    /// Returns the name of a user; nil if the ID does not exist.
    public static func name(of identifier: UInt32) -> String? {
        unsafe entry(of: identifier) { unsafe String(cString: $0.pw_name) }
    }

    /// Returns the home directory of a user; nil if the ID does not exist.
    public static func home(of identifier: UInt32) -> String? {
        unsafe entry(of: identifier) { unsafe String(cString: $0.pw_dir) }
    }

    private static func entry<Value>(of identifier: UInt32, _ body: (passwd) -> Value) -> Value? {
        var (account, result) = unsafe (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard unsafe getpwuid_r(identifier, &account, &buffer, buffer.count, &result) == 0, unsafe result != nil else {
            return nil
        }
        return unsafe body(account)
    }
}
