import Keychain

/// Server, protocol and port of an internet password, as the helpers of other programs spell them.
enum InternetServer {
    /// Returns the service of `HOST`, `HOST:PORT` or `[::1]:PORT`; nil if the host is empty or the port is not a number.
    ///
    /// - Parameter scheme: The scheme of a URL; nil for none.
    static func service(scheme: String?, host: [UInt8]) -> ServiceKey? {
        guard let (server, port) = parts(of: host) else { return nil }
        var service = InternetService(server: .blob(server))
        service.protocol = scheme.map(protocolType)
        service.port = port
        return ServiceKey.internet(service).normalized
    }

    /// Returns the scheme of a value of kSecAttrProtocol.
    static func scheme(of protocolType: [UInt8]) -> String {
        let text = String(decoding: protocolType, as: UTF8.self)
        return InternetProtocol.table.first { $0.code == text }?.suffix.lowercased() ?? text
    }

    private static func parts(of host: [UInt8]) -> (server: [UInt8], port: Int64?)? {
        guard !host.isEmpty else { return nil }
        let afterBracket = host.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? 0
        guard let colon = host[afterBracket...].lastIndex(of: UInt8(ascii: ":")) else { return (host, nil) }
        let digits = host[(colon + 1)...]
        guard colon > 0, !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int64(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
        else { return nil }
        return (Array(host[..<colon]), port)
    }

    /// Returns the value of kSecAttrProtocol for the scheme of a URL, or the scheme itself.
    private static func protocolType(_ scheme: String) -> AttributeValue {
        let known = InternetProtocol.table.first { $0.suffix.lowercased() == scheme }
        return .string(known?.code ?? scheme)
    }
}
