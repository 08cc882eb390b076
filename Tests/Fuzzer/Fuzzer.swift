import CFuzzer
import Foundation
import Fuzzing

/// Fuzzes one decoder with libFuzzer, whose options follow; without it (an ordinary build) tries the files that follow once.
///
/// `fuzzer NAME [ARGUMENT…]`, `fuzzer --list`, `fuzzer NAME --seeds DIRECTORY`, `fuzzer NAME --words FILE`,
/// `fuzzer NAME --limit`
@main struct Fuzzer {
    private static let variable = "KEYCHAINFS_FUZZ_TARGET"
    nonisolated(unsafe) private static var target: FuzzTarget?

    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.dropFirst().first == "--list" { return print(FuzzTarget.all.map(\.name).joined(separator: "\n")) }
        // LibFuzzer starts this program again, with its own options alone.
        if let inherited = ProcessInfo.processInfo.environment[variable] {
            target = FuzzTarget.named(inherited)
            exit(try run(arguments))
        }
        guard arguments.count > 1, let target = FuzzTarget.named(arguments[1]) else { throw Usage() }
        self.target = target
        setenv(variable, target.name, 1)
        switch arguments.dropFirst(2).first {
        case "--seeds"?: try writeSeeds(of: target, to: arguments[3])
        case "--limit"?: print(target.limit)
        case "--words"?: try writeWords(of: target, to: arguments[3])
        default: exit(try run([arguments[0]] + arguments.dropFirst(2)))
        }
    }

    private static func run(_ arguments: [String]) throws -> Int32 {
        var count = Int32(arguments.count)
        var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = .allocate(capacity: arguments.count + 1)
        for (index, argument) in arguments.enumerated() { pointers?[index] = strdup(argument) }
        pointers?[arguments.count] = nil
        let result = cfuzzer_run(&count, &pointers) { bytes, count in Fuzzer.test(bytes, count) }
        guard result == -1 else { return result }
        for path in arguments.dropFirst() { try target?.run([UInt8](Data(contentsOf: URL(fileURLWithPath: path)))) }
        return 0
    }

    /// A property that does not hold ends the process, so that libFuzzer keeps the input.
    private static func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
        do {
            try target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            FileHandle.standardError.write(Data("finding: \(error)\n".utf8))
            abort()
        }
        return 0
    }

    private static func writeSeeds(of target: FuzzTarget, to directory: String) throws {
        for (index, seed) in try target.seeds().enumerated() {
            try Data(seed).write(to: URL(fileURLWithPath: directory).appendingPathComponent("seed-\(index)"))
        }
    }

    /// In libFuzzer's form of a dictionary.
    private static func writeWords(of target: FuzzTarget, to path: String) throws {
        let lines = target.words.map { word in
            "\"" + word.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\"\n"
        }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
    }
}

struct Usage: Error, CustomStringConvertible {
    let description = "usage: fuzzer NAME [ARGUMENT…] | --list | NAME --seeds DIRECTORY | NAME --words FILE"
}
