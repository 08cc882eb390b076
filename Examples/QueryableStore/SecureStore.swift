import Foundation
import Security

/// Passwords by account, of the kind that its queryable determines.
struct SecureStore {
    struct Failure: Error, CustomStringConvertible {
        let status: OSStatus

        var description: String { SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)" }
    }

    let queryable: any SecureStoreQueryable

    /// Sets the password of an account, be there one or not.
    func setValue(_ value: String, for account: String) throws {
        var query = queryable.query
        query[String(kSecAttrAccount)] = account
        let data = Data(value.utf8)
        var status = SecItemCopyMatching(query as CFDictionary, nil)
        switch status {
        case errSecSuccess:
            let attributes: [String: Any] = [String(kSecValueData): data]
            status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
        case errSecItemNotFound:
            query[String(kSecValueData)] = data
            status = SecItemAdd(query as CFDictionary, nil)
        default: break
        }
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    /// The value, or nil if the item does not exist.
    func getValue(for account: String) throws -> String? {
        var query = queryable.query
        query[String(kSecAttrAccount)] = account
        query[String(kSecMatchLimit)] = kSecMatchLimitOne
        query[String(kSecReturnAttributes)] = kCFBooleanTrue
        query[String(kSecReturnData)] = kCFBooleanTrue
        var result: AnyObject?
        let status = withUnsafeMutablePointer(to: &result) { SecItemCopyMatching(query as CFDictionary, $0) }
        guard status != errSecItemNotFound else { return nil }
        guard status == errSecSuccess, let item = result as? [String: Any],
            let data = item[String(kSecValueData)] as? Data
        else { throw Failure(status: status) }
        return String(data: data, encoding: .utf8)
    }

    func removeValue(for account: String) throws {
        var query = queryable.query
        query[String(kSecAttrAccount)] = account
        try delete(query)
    }

    func removeAllValues() throws {
        try delete(queryable.query)
    }

    private func delete(_ query: [String: Any]) throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
    }
}
