import GRDB

/// A closed keychain's file as another program edits it: no log is left next to it.
struct ClosedDatabase {
    let path: String

    /// Runs `body` on a separate connection, because each caches the schema.
    @discardableResult
    func perform<Result>(_ body: (Database) throws -> Result) throws -> Result {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction(body)
    }
}
