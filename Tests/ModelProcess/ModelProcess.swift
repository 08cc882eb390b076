import FileSystemCore
import FileSystemTesting
import Foundation
import Glibc
import ModelTesting
import SystemPackage

/// A process of a program on a mount: reads steps from standard input, one per line, and writes their outcomes.
///
/// `ModelProcess MOUNT`, and for its children `ModelProcess --write DESCRIPTOR FIRST COUNT`.
@main
enum ModelProcess {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments[1] == "--write" { exit(write(arguments.dropFirst(2).compactMap { Int($0) })) }
        var performer = StepRunner(MountedClient(root: arguments[1]))
        while let line = readLine() {
            let action = try JSONDecoder().decode(Action.self, from: Data(line.utf8))
            let outcome =
                if case .spawn(let slot, let fill) = action {
                    spawn(slot, fill, performer)
                } else {
                    performer.perform(action)
                }
            print(String(decoding: try JSONEncoder().encode(outcome), as: UTF8.self))
            fflush(nil)
        }
    }

    /// A child with all descriptors, which ends before this returns.
    private static func spawn(_ slot: Int?, _ fill: BytePattern, _ parent: StepRunner) -> Outcome {
        var arguments = ["/proc/self/exe", "--write"]
        do throws(Errno) {
            if let slot { arguments += [try parent.descriptor(slot), Int(fill.first), fill.count].map(String.init) }
        } catch {
            return .failed(error.rawValue)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Onto itself: so that it is not closed on exec.
        for descriptor in parent.slots.values {
            posix_spawn_file_actions_adddup2(&actions, Int32(descriptor), Int32(descriptor))
        }
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        let error = posix_spawn(&child, CommandLine.arguments[0], &actions, nil, pointers, environ)
        guard error == 0 else { return .failed(error) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {}
        let code = (status >> 8) & 0xFF
        return code == 0 ? .done : .failed(code)
    }

    /// The errno is the exit code.
    private static func write(_ numbers: [Int]) -> Int32 {
        guard numbers.count == 3 else { return 0 }
        let bytes = BytePattern(UInt8(numbers[1]), numbers[2]).bytes
        return pwrite(Int32(numbers[0]), bytes, bytes.count, 0) == bytes.count ? 0 : errno
    }
}
