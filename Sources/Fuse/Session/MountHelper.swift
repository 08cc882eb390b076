import CFuse3
import Glibc
import LinuxSupport
import SystemPackage

/// fusermount3(1), which mounts and unmounts for users other than root.
struct MountHelper {
    private let path: String

    init() throws(FuseError) {
        guard let path = ChildProcess.find("fusermount3") else { throw .helperMissing }
        self.path = path
    }

    /// Mounts. Returns the descriptor of the device, which the helper passes over a socket (`_FUSE_COMMFD`).
    func mount(at directory: String, options: [String]) throws(FuseError) -> Int32 {
        var sockets = try socketPair()
        let (status, message) = try run(
            ["-o", options.joined(separator: ","), "--", directory], environment: ["_FUSE_COMMFD=3"],
            descriptors: [3: sockets.second])
        sockets.closeSecond()
        guard status == 0 else { throw .mountRefused(message: message) }
        let descriptor = cfuse3_receive_descriptor(sockets.first)
        guard descriptor >= 0 else { throw .mountRefused(message: "fusermount3 passed no descriptor") }
        return descriptor
    }

    private func socketPair() throws(FuseError) -> SocketPair {
        do throws(Errno) { return try SocketPair() } catch { throw .system(error, call: "socketpair") }
    }

    func unmount(_ directory: String, lazily: Bool) throws(FuseError) {
        let (status, message) = try run([lazily ? "-uz" : "-u", "--", directory])
        guard status != 0 else { return }
        if message.contains("busy") { throw .busy }
        let absent = ["not found", "not mounted", "Invalid argument"]
        if absent.contains(where: message.contains) { throw .notMounted }
        throw .unmountRefused(message: message)
    }

    /// Runs the helper. Returns its exit status and its output.
    private func run(
        _ arguments: [String], environment: [String] = [], descriptors: [Int32: Int32] = [:]
    ) throws(FuseError) -> (status: Int32, message: String) {
        do throws(Errno) {
            var output = try Pipe()
            // The output is parsed, so it must not be translated.
            var configuration = ChildProcess.Configuration(
                executable: path, arguments: arguments, environment: environment + ["LC_ALL=C"])
            configuration.descriptors = descriptors
            configuration.descriptors[2] = output.writeEnd
            let child = try ChildProcess(configuration)
            output.closeWriteEnd()
            let text = String(decoding: readAll(output.readEnd), as: UTF8.self)
            return (child.wait(), Self.trimmed(text))
        } catch {
            throw .system(error, call: "fusermount3")
        }
    }

    private static func trimmed(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: "; ")
    }
}
