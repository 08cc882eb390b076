import Keychain

/// The server of a password of docker: `[SCHEME://]HOST[:PORT][/PATH]`. Docker uses it as a name, and expects it unchanged.
struct DockerServer: Hashable, Sendable {
    let url: String
    let service: ServiceKey

    /// - Returns: Nil without a host, and for a text that the attributes of a service would not return unchanged: a port such as `080`, control
    ///   characters.
    init?(_ url: String) {
        let bytes = Array(url.utf8)
        let (scheme, start) = Self.scheme(of: bytes)
        let host = bytes[start...].prefix { $0 != UInt8(ascii: "/") }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            var service = InternetServer.service(scheme: scheme, host: Array(host))
        else { return nil }
        let path = Array(bytes[host.endIndex...])
        if !path.isEmpty { service = service.setting(.path, to: .blob(path)).normalized }
        guard Self.url(of: service) == url else { return nil }
        (self.url, self.service) = (url, service)
    }

    /// Returns nil for a service that has no such URL.
    init?(_ service: ServiceKey) {
        guard let url = Self.url(of: service), let server = DockerServer(url), server.service == service else {
            return nil
        }
        self = server
    }

    /// Returns the scheme (RFC 3986, 3.1), and where the host begins.
    private static func scheme(of url: [UInt8]) -> (scheme: String?, start: Int) {
        let end = url.firstIndex { !isAllowedInScheme($0) } ?? url.endIndex
        guard let first = url.first, isLetter(first), url[end...].starts(with: Array("://".utf8)) else {
            return (nil, 0)
        }
        return (String(decoding: url[..<end], as: UTF8.self), end + 3)
    }

    private static func isAllowedInScheme(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func url(of service: ServiceKey) -> String? {
        guard service[.securityDomain] == nil, service[.authenticationType] == nil, let server = service[.server]?.bytes
        else { return nil }
        var url: [UInt8] = []
        if let value = service[.protocol] {
            guard let bytes = value.bytes else { return nil }
            url += Array((InternetServer.scheme(of: bytes) + "://").utf8)
        }
        url += server
        if case .number(let port)? = service[.port] { url += Array(":\(port)".utf8) }
        url += service[.path]?.bytes ?? []
        return String(validating: url, as: UTF8.self)
    }
}
