import Foundation
import Security

struct Credentials: Equatable {
    var username: String
    var password: String
}

enum KeychainError: Error, Equatable {
    case noPassword
    case unexpectedPasswordData
    case unhandled(status: OSStatus)
}

/// The login of a server: added, found, updated, deleted.
struct CredentialsStore {
    let server: String

    func add(_ credentials: Credentials) throws {
        let item: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrServer as String: server,
            kSecAttrProtocol as String: kSecAttrProtocolHTTPS,
            kSecAttrAccount as String: credentials.username,
            kSecValueData as String: Data(credentials.password.utf8),
        ]
        let status = SecItemAdd(item as CFDictionary, nil)
        guard status == errSecSuccess else { throw KeychainError.unhandled(status: status) }
    }

    /// Returns the first account of the server.
    func find() throws -> Credentials {
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrServer as String: server,
            kSecMatchLimit as String: kSecMatchLimitOne,
            kSecReturnAttributes as String: true,
            kSecReturnData as String: true,
        ]
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        guard status != errSecItemNotFound else { throw KeychainError.noPassword }
        guard status == errSecSuccess else { throw KeychainError.unhandled(status: status) }
        guard let found = item as? [String: Any],
            let data = found[kSecValueData as String] as? Data,
            let password = String(data: data, encoding: .utf8),
            let account = found[kSecAttrAccount as String] as? String
        else { throw KeychainError.unexpectedPasswordData }
        return Credentials(username: account, password: password)
    }

    /// Gives the login another name and password.
    func update(_ credentials: Credentials) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrServer as String: server,
        ]
        let attributes: [String: Any] = [
            kSecAttrAccount as String: credentials.username,
            kSecValueData as String: Data(credentials.password.utf8),
        ]
        let status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
        guard status != errSecItemNotFound else { throw KeychainError.noPassword }
        guard status == errSecSuccess else { throw KeychainError.unhandled(status: status) }
    }

    func delete() throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassInternetPassword,
            kSecAttrServer as String: server,
        ]
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw KeychainError.unhandled(status: status)
        }
    }
}
