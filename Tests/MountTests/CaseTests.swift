import Foundation
import TestSupport
import Testing

/// The cases in `Cases/`: shell scripts that use a mount as users do.
///
/// A case's name begins with the contract lines that it proves. Several run at the same time, because they mostly wait.
@Suite struct CaseTests {
    /// The timeout of a case in seconds; a sanitizer is many times slower (Tests/Proofs/sanitizer.sh).
    private static let timeout =
        ProcessInfo.processInfo.environment["KEYCHAINFS_CASE_SECONDS"].flatMap { Int($0) } ?? 240

    private static let limit = CaseLimit(2 * ProcessInfo.processInfo.activeProcessorCount)

    @Test("There are cases, and the program to try them on")
    func prepared() {
        #expect(!Case.all.isEmpty)
        #expect(FileManager.default.isExecutableFile(atPath: Case.program.path))
    }

    @Test("Case", arguments: Case.all)
    func run(_ test: Case) async throws {
        let (result, duration) = try await Self.limit.run { try Self.run(test) }
        print("case \(test.testDescription): \(result.code == 0 ? "passed" : "FAILED") after \(duration) s")
        let comment = """
            \(test.testDescription): exit code \(result.code) after \(duration) s
            \(result.output)
            repeat: scripts/test \(test.name)
            """
        #expect(result.code == 0, "\(comment)")
    }

    private static func run(_ test: Case) throws -> (Command.Result, duration: Double) {
        let directory = try WorkDirectory(for: test.account)
        defer { directory.remove() }
        for resource in test.resources { try directory.add(resource) }
        let start = ContinuousClock.now
        let result = try Command.run(
            try test.account.running(["bash", "\(directory.path)/\(test.file.lastPathComponent)"]),
            environment: [
                "KEYCHAINFS": directory.path + "/" + Case.program.lastPathComponent, "CASE_DIR": directory.path,
                "KEYCHAINFS_LANE": TestLane.current.rawValue,
            ],
            directory: directory.path, seconds: timeout)
        let tenths = (ContinuousClock.now - start) / .milliseconds(100)
        return (result, tenths.rounded() / 10)
    }
}
