internal import GRDB

/// The size of a database file, and the part of it that deleted rows have freed.
struct FileSpace: Equatable {
    let pages, freePages: Int
    /// The size of a page in bytes.
    let pageSize: Int

    init(pages: Int, freePages: Int, pageSize: Int) {
        (self.pages, self.freePages, self.pageSize) = (pages, freePages, pageSize)
    }

    /// Reads the counters of the database header (<https://www.sqlite.org/fileformat2.html#the_database_header>).
    init(of db: Database) throws {
        pages = try Self.number("page_count", db)
        freePages = try Self.number("freelist_count", db)
        pageSize = try Self.number("page_size", db)
    }

    var bytes: Int { pages * pageSize }
    var freeBytes: Int { freePages * pageSize }

    private static func number(_ pragma: String, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0
    }
}
