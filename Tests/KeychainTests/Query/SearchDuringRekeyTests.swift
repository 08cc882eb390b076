import KeychainTesting
import SecItemTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("L5: searches during a rekey")
struct SearchDuringRekeyTests {
    private let fixture: QueryFixture
    private let rows: [RowID]

    init() throws {
        let fixture = try QueryFixture()
        let accounts = ["a", "b", "c", "d", "e"]
        for account in accounts { #expect(fixture.client.add(.generic("s", .text(account))).status == errSecSuccess) }
        rows = try accounts.map { try fixture.row(.generic("s", .text($0))) }
        self.fixture = fixture
    }

    private func rekey() throws {
        let keychain = fixture.keychain
        try keychain.startRekey { () throws(KeychainFault) in
            let secret = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(text: "correct") }
            return try keychain.keys.userKey(passphrase: secret)
        }
        try keychain.rekey()
        #expect(keychain.rekeyProgress.phase == .finished)
    }

    private func begin() throws -> ItemSearch {
        let me = QueryClient(accessGroups: [Array("default".utf8)], userID: 0, groupID: 0)
        // The rows of a service are read page by page.
        let query: QueryDictionary = [
            "class": .string("genp"), "svce": .string("s"), "m_Limit": .string("m_LimitAll"),
        ]
        var search = fixture.client.engine.search(try ItemQuery(query, for: .copyMatching, by: me))
        #expect(try search.next()?.row == rows[0])
        return search
    }

    @Test("L5: a search finds the items whose rows it has read before the end of a rekey")
    func page() throws {
        var search = try begin()
        try rekey()
        for row in rows.dropFirst() { #expect(try search.next()?.row == row) }
        #expect(try search.next()?.row == nil && search.hasEnded)
    }

    @Test("L5: it does not return those that have been deleted or moved since, and still reports a damaged one")
    func changed() throws {
        var search = try begin()
        try rekey()
        #expect(fixture.client.delete(.generic("s", "b")) == errSecSuccess)
        try fixture.damage(.generic("s", "c"))
        #expect(fixture.client.update(.generic("s", "e"), [kSecAttrService: "t"]) == errSecSuccess)
        #expect(try search.next()?.damagedRow == rows[2])
        #expect(try search.next()?.row == rows[3])
        #expect(try search.next()?.row == nil && search.hasEnded)
    }
}

extension SearchRow {
    /// The row of a match.
    fileprivate var row: RowID? { if case .match(let match) = self { match.item.id } else { nil } }

    fileprivate var damagedRow: RowID? { if case .damaged(let row) = self { row } else { nil } }
}
