import Foundation
import Fuzzing
import KeychainTesting
import TestSupport
import Testing

/// Every decoder on what is kept of its corpus, on the examples it began with, and on both with their bytes changed at random.
///
/// `KEYCHAINFS_FUZZ_CASES` says how many of these are tried of each decoder, `KEYCHAINFS_FUZZ_SEED` which.
@Suite("Decoders of bytes from outside")
struct CorpusTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fuzzing/Corpus").standardizedFileURL
    private static let environment = ProcessInfo.processInfo.environment
    private static let cases = environment["KEYCHAINFS_FUZZ_CASES"].flatMap { Int($0) }
    private static let seed = environment["KEYCHAINFS_FUZZ_SEED"].flatMap { UInt64($0) } ?? 0x5EED

    @Test("each on its corpus, and on what is like it", arguments: FuzzTarget.all.map(\.name))
    func corpus(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpus.appendingPathComponent(name), includingPropertiesForKeys: nil)
        try #require(!files.isEmpty)
        let kept = try files.sorted { $0.path < $1.path }.map { [UInt8](try Data(contentsOf: $0)) }
        let inputs = try kept + target.seeds()
        for input in inputs { try run(target, input) }
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<(Self.cases ?? TestLane.rounds(target.cases)) {
            var input = try #require(inputs.randomElement(using: &generator))
            Mutation.apply(to: &input, &generator)
            try run(target, input)
        }
    }

    /// With the input of a finding, as `fuzzer NAME FILE` takes it.
    private func run(_ target: FuzzTarget, _ input: [UInt8]) throws {
        do {
            try target.run(input)
        } catch {
            Issue.record("\(target.name): \(error); the input, in base64: \(Data(input).base64EncodedString())")
            throw error
        }
    }
}
