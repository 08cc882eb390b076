import Foundation
import Glibc

/// Times queries on a keychain of many items. `scripts/benchmark-queries` and `scripts/benchmark` use it.
@main
struct QueryBenchmark {
    private static let usage = """
        usage: QueryBenchmark fill STORE COUNT [SERVICE [BYTES]]
               QueryBenchmark create DIRECTORY ROUNDS
               QueryBenchmark time MOUNTPOINT COUNT ROUNDS
        """

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("fill", 3...5): try fill(Array(arguments.dropFirst()))
        case ("create", 3): try create(in: arguments[1], rounds: arguments[2])
        case ("time", 4): try time(mountPoint: arguments[1], count: arguments[2], rounds: arguments[3])
        default:
            Swift.print(usage)
            exit(64)
        }
    }

    /// Prints the seconds that adding took. If a service is named all items are in it, called as Benchmarks/Meter calls
    /// files; else they are in up to a thousand.
    private static func fill(_ arguments: [String]) throws {
        let names = BenchmarkNames(
            count: try number(arguments[1]), service: arguments.count > 2 ? arguments[2] : nil)
        let vault = try BenchmarkVault(creating: arguments[0])
        defer { vault.close() }
        let size = arguments.count > 3 ? try number(arguments[3]) : 32
        let seconds = try ContinuousClock().measure { try vault.fill(names, size: size) } / .seconds(1)
        Swift.print(seconds)
    }

    /// Measures the creation of empty keychains, and the key derivation, which must be subtracted.
    private static func create(in directory: String, rounds: String) throws {
        var create = Timing()
        var derivation = Timing()
        for round in 0..<(try number(rounds)) {
            try create.measure { _ = try BenchmarkVault.makeStore(at: "\(directory)/\(round).keychain") }
            try derivation.measure { try BenchmarkVault.deriveKey() }
        }
        try print(["create": create, "derivation": derivation])
    }

    private static func time(mountPoint: String, count: String, rounds: String) throws {
        let benchmark = MountBenchmark(mountPoint: mountPoint, names: BenchmarkNames(count: try number(count)))
        try print(try benchmark.run(rounds: try number(rounds)))
    }

    private static func print(_ results: [String: Timing]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        Swift.print(String(decoding: try encoder.encode(results), as: UTF8.self))
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
