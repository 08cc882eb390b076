import Foundation
import Security

/// Code for Apple's keychain, unchanged.
public struct Tokens {
    private let key: [String: Any]

    public init(account: String) {
        key = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "swift-package",
            kSecAttrAccount as String: account,
        ]
    }

    public func add(_ token: String) -> OSStatus {
        SecItemAdd(key.merging([kSecValueData as String: Data(token.utf8)]) { $1 } as CFDictionary, nil)
    }

    public func find() -> String? {
        var result: CFTypeRef?
        let query = key.merging([kSecReturnData as String: true]) { $1 } as CFDictionary
        guard SecItemCopyMatching(query, &result) == errSecSuccess else { return nil }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}
