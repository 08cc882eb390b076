import Glibc
import LinuxSupport
import SystemPackage

/// The output of this program, started with other arguments, within a time limit.
///
/// A process that waits for a file system whose daemon hangs may not exit even when it is killed. It must therefore not
/// be the process that a user waits for.
public enum BoundedOutput {
    /// Runs the program.
    ///
    /// - Parameter milliseconds: The time limit. The child process is then killed, and not waited for.
    /// - Returns: The standard output; nil if the child did not finish in time or could not be started.
    public static func ofThisProgram(arguments: [String], milliseconds: Int) -> [UInt8]? {
        // The child inherits no other descriptor.
        var descriptors: [Int32] = [-1, -1]
        guard unsafe pipe(&descriptors) == 0 else { return nil }
        let ends = (read: descriptors[0], write: descriptors[1])
        defer { close(ends.read) }
        let configuration = ChildProcess.Configuration(
            executable: ChildProcess.ownProgram, arguments: arguments, descriptors: [1: ends.write])
        let child = try? ChildProcess(configuration)
        close(ends.write)
        guard let child else { return nil }
        guard let output = read(ends.read, until: SuspendingClock.now + .milliseconds(milliseconds)) else {
            kill(child.identifier, SIGKILL)
            return nil
        }
        child.wait()
        return output
    }

    /// Reads to the end of the pipe; nil if the deadline has passed.
    private static func read(_ descriptor: Int32, until deadline: SuspendingClock.Instant) -> [UInt8]? {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let rest = max(.zero, deadline - .now) / .milliseconds(1)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, Int32(rest))
            if ready == 0 { return nil }
            let count = ready < 0 ? -1 : unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? output : nil }
            output += buffer.prefix(count)
        }
    }
}
