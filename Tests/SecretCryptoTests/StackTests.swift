import CSodium
import Glibc
import SecretCrypto
import Testing

/// The data that calculations leave on their thread's stack, which is memory of the test.
@Suite struct StackTests {
    private static let size = 1 << 20
    private static let key = hex("00f1e2d3c4b5a69788796a5b4c3d2e1f0112233445566778899aabbccddeef00")

    /// Returns whether the stack of a thread contains the key after it has run `body`.
    private static func leavesKey(_ body: @escaping @Sendable (borrowing SecretBytes) -> Void) throws -> Bool {
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        let start = try #require(memory == MAP_FAILED ? nil : memory)
        defer { munmap(start, size) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        #expect(pthread_attr_setstack(&attributes, start, size) == 0)
        let work = Work(secret: try secret(key), body: body)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeUnretainedValue().run() }
                return nil
            }, Unmanaged.passUnretained(work).toOpaque())
        try #require(result == 0)
        pthread_join(thread, nil)
        let bytes = UnsafeRawBufferPointer(start: start, count: size)
        return (0..<size - 16).contains { bytes[$0] == key[0] && memcmp(start + $0, key, 16) == 0 }
    }

    private final class Work: Sendable {
        private let secret: SecretBytes
        private let body: @Sendable (borrowing SecretBytes) -> Void

        init(secret: consuming SecretBytes, body: @escaping @Sendable (borrowing SecretBytes) -> Void) {
            self.secret = secret
            self.body = body
        }

        func run() { body(secret) }
    }

    @Test("H2: keyed hashes and key exchange leave no key on the stack") func keys() throws {
        // An intended copy, to show that the search can find the key.
        #expect(
            try Self.leavesKey { key in
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { copy in
                    for index in 0..<32 { copy[index] = key.bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self) }
                }
            })
        #expect(try !Self.leavesKey { key in _ = try? BLAKE2b.mac(key: key, parts: [[1, 2, 3]], count: 16) })
        #expect(try !Self.leavesKey { key in _ = try? BLAKE2b.derive(key: key, parts: [[1, 2, 3]]).count })
        #expect(
            try !Self.leavesKey { key in
                guard let copy = try? key.copy(), let pair = try? X25519KeyPair(secretKey: copy) else { return }
                _ = try? pair.sharedSecret(with: pair.publicKey).count
            })
    }
}
