import CLinuxSupport

/// The command line of this process.
public enum ProgramArguments {
    /// The arguments of `main`, the program's name first. `CommandLine.arguments` reads `/proc/self/cmdline`, and is empty without
    /// it: in a chroot, in some sandboxes, and with a preloaded library that intercepts reads.
    public static let all: [String] = {
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe program_arguments(&arguments)
        return (0..<Int(count)).compactMap { index in unsafe arguments?[index].map { unsafe String(cString: $0) } }
    }()

    /// Whether every argument is UTF-8. In ``all``, the other bytes are U+FFFD, which is the name of another file.
    public static let areText: Bool = {
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe program_arguments(&arguments)
        return (0..<Int(count)).allSatisfy { index in
            unsafe arguments?[index].map { unsafe String(validatingCString: $0) != nil } ?? true
        }
    }()
}
