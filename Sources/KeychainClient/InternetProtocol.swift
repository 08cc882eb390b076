/// The protocol of an internet password (kSecAttrProtocol). The raw value is that of Apple's constant.
public struct InternetProtocol: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let http = InternetProtocol(rawValue: "http")
    public static let https = InternetProtocol(rawValue: "htps")
    public static let ftp = InternetProtocol(rawValue: "ftp ")
    public static let ftps = InternetProtocol(rawValue: "ftps")
    public static let ssh = InternetProtocol(rawValue: "ssh ")
    public static let smb = InternetProtocol(rawValue: "smb ")
    public static let imap = InternetProtocol(rawValue: "imap")
    public static let imaps = InternetProtocol(rawValue: "imps")
    public static let pop3 = InternetProtocol(rawValue: "pop3")
    public static let pop3s = InternetProtocol(rawValue: "pops")
    public static let smtp = InternetProtocol(rawValue: "smtp")
    public static let ldap = InternetProtocol(rawValue: "ldap")
    public static let ldaps = InternetProtocol(rawValue: "ldps")
    public static let socks = InternetProtocol(rawValue: "sox ")
    public static let httpProxy = InternetProtocol(rawValue: "htpx")
    public static let httpsProxy = InternetProtocol(rawValue: "htsx")
}

/// The method of authentication with a password (kSecAttrAuthenticationType). The raw value is that of Apple's
/// constant.
public struct AuthenticationType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let httpBasic = AuthenticationType(rawValue: "http")
    public static let httpDigest = AuthenticationType(rawValue: "httd")
    public static let htmlForm = AuthenticationType(rawValue: "form")
    public static let ntlm = AuthenticationType(rawValue: "ntlm")
}
