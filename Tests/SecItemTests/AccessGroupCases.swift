import SecItemTesting
import Testing

@Suite("Access groups of a caller")
struct AccessGroupCases {
    @Test(
        "a group that is named twice is one group: each item is found, changed and deleted once",
        arguments: Transport.all)
    func twice(_ transport: Transport) throws {
        let fixture = try CaseFixture()
        fixture.use(transport)
        let client = fixture.client.entitled(["g", "h", "g", "g"])
        #expect(client.add(.generic("s", "a")).status == errSecSuccess)
        let service: [String: PlainValue] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
        for query: [String: PlainValue] in [.anyGeneric, service, .generic("s", "a")] {
            #expect(client.count(query) == 1)
        }
        #expect(client.update(service, [kSecAttrLabel: "l"]) == errSecSuccess)
        #expect(fixture.changed { $0.count == 1 })
        #expect(client.delete(service) == errSecSuccess)
        #expect(fixture.changed { $0.count == 1 })
    }
}
