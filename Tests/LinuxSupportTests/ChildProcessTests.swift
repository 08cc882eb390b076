import LinuxSupport
import SystemPackage
import Testing

@Suite("Child processes")
struct ChildProcessTests {
    /// Runs a shell script and returns its output.
    private func output(_ script: String, environment: [String] = []) throws -> String {
        let file = try AnonymousFile(label: "output")
        let child = try ChildProcess(
            .init(
                executable: "/bin/sh", arguments: ["-c", script], environment: environment,
                descriptors: [1: file.descriptor.rawValue]))
        #expect(child.wait() == 0)
        return String(decoding: file.contents(limit: 4096), as: UTF8.self)
    }

    @Test("a variable is added to the environment, or replaces the one of the same name")
    func environment() throws {
        let path = try output("printf %s \"$PATH\"")
        #expect(!path.isEmpty)
        #expect(try output("printf %s \"$PATH$NEW\"", environment: ["NEW=x"]) == path + "x")
        let lines = try output("env | grep -c -e ^PATH= -e ^PATHS=", environment: ["PATH=/usr/bin:/bin", "PATHS=y"])
        #expect(lines == "2\n")
        #expect(try output("printf %s \"$PATH\"", environment: ["PATH=/usr/bin:/bin"]) == "/usr/bin:/bin")
    }

    @Test("a wait with a limit returns the exit status, or nil while the process continues")
    func limitedWait() throws {
        let short = try ChildProcess(.init(executable: "/bin/sh", arguments: ["-c", "exit 7"]))
        #expect(short.wait(until: ContinuousClock.now + .seconds(30)) == 7)
        let long = try ChildProcess(.init(executable: "/bin/sleep", arguments: ["100"]))
        #expect(long.wait(until: ContinuousClock.now + .milliseconds(50)) == nil)
        long.requestEnd()
        let status = long.wait(until: ContinuousClock.now + .seconds(30))
        #expect(status == 143)  // 128 + SIGTERM
    }

    @Test("only standard descriptors and those that are named are open in the child")
    func descriptors() throws {
        let (read, write) = try FileDescriptor.pipe()
        defer {
            try? read.close()
            try? write.close()
        }
        #expect(try output("ls /proc/self/fd | wc -l") == "4\n")  // One more is the directory that ls(1) has open.
    }
}
