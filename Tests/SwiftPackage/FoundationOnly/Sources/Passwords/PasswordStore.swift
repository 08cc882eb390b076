import Foundation

#if canImport(LocalAuthentication)
import LocalAuthentication
#endif

public struct PasswordStore {
    public struct Failure: Error {
        public let status: OSStatus
    }

    private let service: String

    public init(service: String) { self.service = service }

    public func set(_ password: String, for account: String) throws {
        let data = Data(password.utf8)
        var status = SecItemUpdate(key(account) as CFDictionary, [kSecValueData: data] as CFDictionary)
        if status == errSecItemNotFound {
            var item = key(account)
            item[kSecValueData as String] = data
            item[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
            status = SecItemAdd(item as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    public func password(for account: String, allowingInteraction: Bool) throws -> String? {
        var query = key(account)
        #if canImport(LocalAuthentication)
        let context = LAContext()
        context.interactionNotAllowed = !allowingInteraction
        query[kSecUseAuthenticationContext as String] = context
        #endif
        query[kSecReturnData as String] = kCFBooleanTrue
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: AnyObject?
        switch SecItemCopyMatching(query as CFDictionary, &result) {
        case errSecSuccess: return (result as? Data).flatMap { String(data: $0, encoding: .utf8) }
        case errSecItemNotFound: return nil
        case let status: throw Failure(status: status)
        }
    }

    private func key(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }
}
