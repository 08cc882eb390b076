import FileSystemCore
import Keychain
import SecretCrypto
import SystemPackage

@testable import KeychainTree

/// The functions of Keychain Services on the keychain of a tree, which is notified of their changes.
struct API {
    let fixture: TreeFixture
    let engine: QueryEngine
    /// The process of the requests, which records the kernel notifications.
    let process: TreeProcess
    /// Called after a change is committed, before the tree is notified.
    var onCommit: () throws -> Void = {}

    init(_ fixture: TreeFixture) {
        self.fixture = fixture
        engine = QueryEngine(keychain: fixture.keychain)
        process = TreeProcess(fixture, 99)
    }

    private var client: QueryClient {
        QueryClient(accessGroups: [Array("*".utf8)], userID: 1000, groupID: 1000)
    }

    private static func query(_ attributes: [String: String]) -> QueryDictionary {
        var query: QueryDictionary = ["class": .text(Array("genp".utf8))]
        for (key, value) in attributes { query[key] = .text(Array(value.utf8)) }
        return query
    }

    private static func secret(_ value: String?) throws -> SecretBytes {
        let bytes = Array((value ?? "").utf8)
        return try SecretBytes(copying: bytes.rawSpan)
    }

    private func notify(_ changes: [ItemChange]) throws {
        try onCommit()
        try process.ask { (request) throws(Errno) in fixture.tree.show(changes, &request) }
    }

    func add(_ attributes: [String: String], _ value: String? = nil) throws {
        var query = Self.query(attributes)
        if value != nil { query["v_Data"] = .secret }
        let secret = try Self.secret(value)
        try notify(try engine.add(query, secret: secret, by: client).changes)
    }

    func update(_ attributes: [String: String], to new: [String: String], _ value: String? = nil) throws {
        var changes: QueryDictionary = [:]
        for (key, value) in new { changes[key] = .text(Array(value.utf8)) }
        if value != nil { changes["v_Data"] = .secret }
        let secret = try Self.secret(value)
        try notify(try engine.update(Self.query(attributes), to: changes, secret: secret, by: client))
    }

    func delete(_ attributes: [String: String]) throws {
        try notify(try engine.delete(Self.query(attributes), by: client))
    }

    /// Returns the value of the single match, or nil without a match.
    func value(_ attributes: [String: String]) throws -> String? {
        var query = Self.query(attributes)
        query["r_Data"] = .boolean(true)
        guard let found = try matches(query) else { return nil }
        guard case .one(.data(let secret)) = found else { return "" }
        let slab: SecretBytes = try secret.slab(at: 0, size: secret.count)
        return String(decoding: [UInt8](copying: slab.bytes), as: UTF8.self)
    }

    /// Returns the number of matches.
    func count(_ attributes: [String: String]) throws -> Int {
        var query = Self.query(attributes)
        query["m_Limit"] = .text(Array("m_LimitAll".utf8))
        query["r_Attributes"] = .boolean(true)
        if case .list(let found)? = try matches(query) { return found.count }
        return 0
    }

    private func matches(_ query: QueryDictionary) throws(SecurityStatus) -> QueryResult? {
        do {
            return try engine.copyMatching(query, by: client)
        } catch .itemNotFound {
            return nil
        }
    }
}
