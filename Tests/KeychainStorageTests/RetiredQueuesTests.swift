import Foundation
import GRDB
import Testing

@testable import Keychain
@testable import KeychainStorage

@Suite("H4: queues of closed databases")
struct RetiredQueuesTests {
    private final class Retired: Sendable {}

    private final class WeakDatabase {
        weak var value: Database?
    }

    @Test("the last eight are kept, and no more")
    func limit() {
        let queues = RetiredQueues()
        var first: Retired? = Retired()
        weak let kept = first
        if let first { queues.keep(first) }
        first = nil
        for _ in 1..<8 { queues.keep(Retired()) }
        #expect(kept != nil)
        queues.keep(Retired())
        #expect(kept == nil)
    }

    @Test("a database that was opened and closed is freed after eight others")
    func freed() async throws {
        let scratch = try TemporaryDirectory()
        let database = WeakDatabase()
        try Self.openAndClose(scratch.keychain, database)
        for _ in 0..<8 { RetiredQueues.shared.keep(Retired()) }
        // Dispatch frees the data of a queue on a separate thread.
        for _ in 0..<500 where database.value != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(database.value == nil)
    }

    private static func openAndClose(_ path: String, _ database: WeakDatabase) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        let connection = try WriterConnection.create(try StoreFile(path: path))
        try connection.perform { db throws(KeychainFault) in database.value = db }
        #expect(database.value != nil)
        connection.close()
    }
}
