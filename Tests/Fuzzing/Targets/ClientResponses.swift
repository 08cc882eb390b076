import Foundation

@testable import KeychainMount

/// The responses of a daemon to commands, as clients read them: JSON of its status, of `check`, `slot list` and
/// `backup`.
extension FuzzTarget {
    static let clientAnswers = FuzzTarget(
        "client-responses", limit: 4096,
        words: [
            "\"items\":", "\"slots\":", "null", "true", "-1", "1e999", "[]", "{}", "\"\\ud800\"", "9223372036854775807",
        ],
        examples: { try clientExamples.map { try response(Array($0.utf8)) } + [status()] }
    ) { input in
        try check(StatusReport.self, input) { _ = $0.text }
        try check(CheckResult.self, input) { _ = ($0.text, $0.isConsistent) }
        try check(SlotListResult.self, input) { _ = $0.text }
        try check(SlotChangeResult.self, input) { _ in }
        try check(SnapshotResult.self, input) { _ in }
    }

    /// Checks that a decoded response is the same after encoding and decoding it again.
    private static func check<Answer: JSONText>(_ type: Answer.Type, _ input: [UInt8], _ use: (Answer) -> Void) throws {
        guard let answer = try? Answer(json: input) else { return }
        use(answer)
        let text = answer.json
        try hold(try Answer(json: text).json == text, "an answer that is another when it is written: \(type)")
    }

    /// Returns an example, which must be complete: otherwise mutations of it test nothing but the parser of JSON.
    private static func response(_ example: [UInt8]) throws -> [UInt8] {
        let isResponse =
            (try? CheckResult(json: example)) != nil || (try? SlotListResult(json: example)) != nil
            || (try? SlotChangeResult(json: example)) != nil || (try? SnapshotResult(json: example)) != nil
        try hold(isResponse, "an example that is not a response")
        return example
    }

    private static func status() throws -> [UInt8] {
        try DaemonCommands.commands.get().status(of: MemoryKeychain().tree)
    }

    private static let clientExamples = [
        #"{"slots":[{"id":1,"kind":"passphrase","kdf":{"algorithm":"argon2id","passes":3,"memory":268435456}}]}"#,
        #"{"slot":2,"deletedItems":0,"lostSlots":[3]}"#,
        #"{"file":"/a/b","items":1,"leftOut":0,"commitNumber":7,"integrity":"verified"}"#,
        """
        {"directories":1,"items":2,"unavailable":0,"foreign":0,"damagedDirectories":[],"damagedItems":[3],\
        "pastValues":4,"damagedPastValues":[9],"wrongPastBytes":false,\
        "damage":[{"subject":"item","row":3,"path":"a/b/c","named":true}],"damagedSlots":0,"damagedKeys":0,\
        "unreadableRows":0,"structureFaults":0,"missingRows":1,"addedRows":0,"replacedRows":true,"anotherCopy":true,\
        "unindexedRows":0,"wrongIndexEntries":1,"incompleteIndexes":false,"sharedNames":0,"leftovers":["a~"],\
        "freeBytes":4096}
        """,
    ]
}
