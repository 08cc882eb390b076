import Keychain
import SecItemTesting
import Testing

@Suite("Many concurrent clients")
struct ConcurrentCases {
    @Test(
        "8.5/66: each thread adds, finds, reads, updates, reads and deletes its own item, and finds it no more",
        arguments: Transport.all)
    func lives(_ transport: Transport) async throws {
        let fixture = try CaseFixture()
        fixture.use(transport)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask { [client = fixture.client] in
                    for round in 0..<10 {
                        Self.live(.generic(.text("s\(worker % 3)"), .text("\(worker) \(round)")), client)
                    }
                }
            }
        }
        #expect(fixture.client.count(.anyGeneric) == 0)
        #expect(try fixture.keychain.check().isConsistent)
    }

    private static func live(_ item: [String: PlainValue], _ client: any SecItemClient) {
        #expect(client.add(item.with([kSecValueData: .bytes("one")])).status == errSecSuccess)
        #expect(client.status(item) == errSecSuccess)
        #expect(client.data(item) == .bytes("one"))
        #expect(client.update(item, [kSecValueData: .bytes("two"), kSecAttrLabel: "l"]) == errSecSuccess)
        #expect(client.data(item.with([kSecAttrLabel: "l"])) == .bytes("two"))
        #expect(client.delete(item) == errSecSuccess)
        #expect(client.status(item) == errSecItemNotFound)
    }

    @Test(
        "8.2/35: 10 threads, 20 queries each, while it is locked; afterwards the real answer", arguments: Transport.all)
    func locked(_ transport: Transport) async throws {
        let fixture = try CaseFixture()
        fixture.use(transport)
        #expect(fixture.client.add(.generic("s", "a")).status == errSecSuccess)
        fixture.keychain.lock()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask { [client = fixture.client] in
                    for _ in 0..<20 { #expect(client.status(.anyGeneric) == errSecInteractionNotAllowed) }
                }
            }
        }
        try fixture.unlock()
        #expect(fixture.client.status(.generic("s", "b")) == errSecItemNotFound)
        #expect(fixture.client.status(.generic("s", "a")) == errSecSuccess)
    }

    @Test(
        "items that move between two services while they are looked for are all found, each once",
        arguments: Transport.all)
    func moving(_ transport: Transport) async throws {
        let fixture = try CaseFixture()
        fixture.use(transport)
        for index in 0..<20 { #expect(fixture.client.add(.generic("a", .text("\(index)"))).status == errSecSuccess) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [client = fixture.client] in
                for round in 0..<10 {
                    let (from, to) = round % 2 == 0 ? ("a", "b") : ("b", "a")
                    let service: [String: PlainValue] = [
                        kSecClass: kSecClassGenericPassword, kSecAttrService: .text(from),
                    ]
                    #expect(client.update(service, [kSecAttrService: .text(to)]) == errSecSuccess)
                }
            }
            group.addTask { [client = fixture.client] in
                for _ in 0..<30 { #expect(client.count(.anyGeneric) == 20) }
            }
        }
    }
}
