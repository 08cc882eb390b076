import Foundation
import Security

/// The common attributes of a store's items, as a query.
protocol SecureStoreQueryable {
    var query: [String: Any] { get }
}

struct GenericPasswordQueryable: SecureStoreQueryable {
    let service: String
    var accessGroup: String?

    var query: [String: Any] {
        var query: [String: Any] = [
            String(kSecClass): kSecClassGenericPassword,
            String(kSecAttrService): service,
        ]
        if let accessGroup { query[String(kSecAttrAccessGroup)] = accessGroup }
        return query
    }
}

struct InternetPasswordQueryable: SecureStoreQueryable {
    enum Scheme {
        case http, https, ssh

        var constant: CFString {
            switch self {
            case .http: kSecAttrProtocolHTTP
            case .https: kSecAttrProtocolHTTPS
            case .ssh: kSecAttrProtocolSSH
            }
        }
    }

    let server: String
    let port: Int
    let path: String
    let scheme: Scheme

    var query: [String: Any] {
        [
            String(kSecClass): kSecClassInternetPassword,
            String(kSecAttrServer): server,
            String(kSecAttrPort): port,
            String(kSecAttrPath): path,
            String(kSecAttrProtocol): scheme.constant,
        ]
    }
}
