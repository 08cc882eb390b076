import CLinuxSupport
public import SystemPackage

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

    /// Replaces this process by the program that the last arguments name (execvp(3)). Their bytes are unchanged, also those that are
    /// not UTF-8.
    ///
    /// - Parameters:
    ///   - count: The number of these arguments, the name of the program included.
    ///   - assignments: The variables that are added to the environment, or replaced in it: texts `NAME=VALUE`, each followed
    ///     by a zero byte. The program is searched in their `PATH`.
    /// - Returns: The errno of execve(2). Does not return otherwise.
    public static func execute(last count: Int, adding assignments: RawSpan) -> Errno {
        unsafe assignments.withUnsafeBytes { bytes in
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe Errno(rawValue: execute_program(Int32(all.count - count), text, bytes.count))
        }
    }
}
