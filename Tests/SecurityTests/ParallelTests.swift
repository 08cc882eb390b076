import Security
import SecurityTesting
import Testing

@Suite("many concurrent callers, reference 8.5", .memoryKeychain)
struct ParallelTests {
    private static func key(_ number: Int) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "parallel",
            kSecAttrAccount as String: "\(number)",
        ]
    }

    private static func data(_ number: Int) -> Data? {
        var result: CFTypeRef?
        let query = key(number).merging([kSecReturnData as String: true]) { $1 }
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
        return result as? Data
    }

    /// Add, find, read, update, read, delete, find: true if every step did what it should.
    private static func life(of number: Int) -> Bool {
        let (key, first, second) = (key(number), Data("first \(number)".utf8), Data("second \(number)".utf8))
        let item = key.merging([kSecValueData as String: first]) { $1 }
        return SecItemAdd(item as CFDictionary, nil) == errSecSuccess
            && SecItemCopyMatching(key as CFDictionary, nil) == errSecSuccess
            && data(number) == first
            && SecItemUpdate(key as CFDictionary, [kSecValueData: second] as CFDictionary) == errSecSuccess
            && data(number) == second
            && SecItemDelete(key as CFDictionary) == errSecSuccess
            && SecItemCopyMatching(key as CFDictionary, nil) == errSecItemNotFound
    }

    @Test("8.5/66: each caller with a separate item")
    func lives() async {
        let succeeded = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 { group.addTask { Self.life(of: number) } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(succeeded == 64)
    }

    @Test("of many that add the same item one succeeds")
    func sameItem() async {
        let item = Self.key(0).merging([kSecValueData as String: Data()]) { $1 } as CFDictionary
        nonisolated(unsafe) let shared = item
        let statuses = await withTaskGroup(of: OSStatus.self) { group in
            for _ in 0..<16 { group.addTask { SecItemAdd(shared, nil) } }
            return await group.reduce(into: [OSStatus]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == errSecSuccess } == 1)
        #expect(statuses.count { $0 == errSecDuplicateItem } == 15)
    }
}
