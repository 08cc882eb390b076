import Foundation
import Fuzzing
import KeychainTesting
import TestSupport
import Testing

/// Runs every decoder on its corpus, on its examples, and on random mutations of both.
///
/// `KEYCHAINFS_FUZZ_CASES` is the number of inputs per decoder, `KEYCHAINFS_FUZZ_SEED` selects them.
@Suite("Decoders of bytes from outside")
struct CorpusTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fuzzing/Corpus").standardizedFileURL
    private static let environment = ProcessInfo.processInfo.environment
    private static let cases = environment["KEYCHAINFS_FUZZ_CASES"].flatMap { Int($0) }
    private static let seed = environment["KEYCHAINFS_FUZZ_SEED"].flatMap { UInt64($0) } ?? 0x5EED

    @Test("each decoder on its corpus, and on mutations of it", arguments: FuzzTarget.all.map(\.name))
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

    /// Reports the input of a finding, in the form that `fuzzer NAME FILE` reads.
    private func run(_ target: FuzzTarget, _ input: [UInt8]) throws {
        do {
            try target.run(input)
        } catch {
            Issue.record("\(target.name): \(error); the input, in base64: \(Data(input).base64EncodedString())")
            throw error
        }
    }
}
