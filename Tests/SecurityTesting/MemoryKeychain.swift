import Foundation
import Keychain
import KeychainConnection
import KeychainRPC
import KeychainServer
import KeychainTesting
import SecretCrypto
import Testing

/// An empty, unlocked keychain in memory.
package struct MemoryKeychain {
    package let ring: KeyRing
    package let connection: any KeychainTransport

    private static func now() -> KeychainDate {
        let now = Date().timeIntervalSince1970
        return KeychainDate(seconds: Int64(now), nanoseconds: Int32((now - now.rounded(.down)) * 1_000_000_000))
    }

    package init() throws {
        let store = InMemoryRecordStore()
        let device = try SecretBytes(copying: [UInt8](repeating: 1, count: 32).span.bytes)
        try KeyRing.create(in: store, passphrase: SecretBytes(text: "correct"), cost: .cheap, device: device)
        let copy = try SecretBytes(copying: [UInt8](repeating: 1, count: 32).span.bytes)
        ring = try KeyRing(store: store, device: copy)
        try ring.unlock(passphrase: SecretBytes(text: "correct"))
        connection = InProcessTransport(
            RequestHandler(keychain: KeychainStore(store: store, keys: ring, clock: Self.now)),
            owner: FileOwner(userID: 7, groupID: 8))
    }
}

/// Gives each test case a separate keychain, which the SecItem functions use in its task.
public struct MemoryKeychainTrait: SuiteTrait, TestTrait, TestScoping {
    let accessGroups: [String]

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let access = ItemAccess(try MemoryKeychain().connection, groups: AccessGroups(accessGroups))
        try await ItemAccess.$scoped.withValue(access) { try await function() }
    }
}

extension Trait where Self == MemoryKeychainTrait {
    /// A keychain in memory for each case, for a program of the access group `default`.
    public static var memoryKeychain: MemoryKeychainTrait { memoryKeychain(accessGroups: ["default"]) }

    public static func memoryKeychain(accessGroups: [String]) -> MemoryKeychainTrait {
        MemoryKeychainTrait(accessGroups: accessGroups)
    }
}
