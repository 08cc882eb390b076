import Foundation
import Glibc

/// Times queries on a keychain of many items. `scripts/benchmark-queries` says how it is used.
@main
struct QueryBenchmark {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("fill", 3): try fill(path: arguments[1], count: arguments[2])
        case ("time", 4): try time(mountPoint: arguments[1], count: arguments[2], rounds: arguments[3])
        default:
            print("usage: QueryBenchmark fill STORE COUNT | time MOUNTPOINT COUNT ROUNDS")
            exit(64)
        }
    }

    private static func fill(path: String, count: String) throws {
        let vault = try BenchmarkVault(creating: path)
        defer { vault.close() }
        try vault.fill(count: try number(count))
    }

    private static func time(mountPoint: String, count: String, rounds: String) throws {
        let benchmark = MountBenchmark(mountPoint: mountPoint, names: BenchmarkNames(count: try number(count)))
        let results = try benchmark.run(rounds: try number(rounds))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        print(String(decoding: try encoder.encode(results), as: UTF8.self))
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw BenchmarkError.notANumber }
        return number
    }
}

enum BenchmarkError: Error {
    case notANumber
    /// An OSStatus or an errno where success was expected.
    case failed(String, Int32)
}
