/// The constants `kSecAttrProtocol…` (`SecItemConstants.c`).
package enum InternetProtocol {
    /// The constant's name without its prefix, and its value; note the trailing spaces.
    package static let table: [(suffix: String, code: String)] = [
        ("FTP", "ftp "), ("FTPAccount", "ftpa"), ("HTTP", "http"), ("IRC", "irc "), ("NNTP", "nntp"),
        ("POP3", "pop3"), ("SMTP", "smtp"), ("SOCKS", "sox "), ("IMAP", "imap"), ("LDAP", "ldap"),
        ("AppleTalk", "atlk"), ("AFP", "afp "), ("Telnet", "teln"), ("SSH", "ssh "), ("FTPS", "ftps"),
        ("HTTPS", "htps"), ("HTTPProxy", "htpx"), ("HTTPSProxy", "htsx"), ("FTPProxy", "ftpx"), ("SMB", "smb "),
        ("RTSP", "rtsp"), ("RTSPProxy", "rtsx"), ("DAAP", "daap"), ("EPPC", "eppc"), ("IPP", "ipp "),
        ("NNTPS", "ntps"), ("LDAPS", "ldps"), ("TelnetS", "tels"), ("IMAPS", "imps"), ("IRCS", "ircs"),
        ("POP3S", "pops"),
    ]
}

/// The constants `kSecAttrAuthenticationType…`.
package enum AuthenticationType {
    /// The constant's name without its prefix, and its value.
    package static let table: [(suffix: String, code: String)] = [
        ("NTLM", "ntlm"), ("MSN", "msna"), ("DPA", "dpaa"), ("RPA", "rpaa"), ("HTTPBasic", "http"),
        ("HTTPDigest", "httd"), ("HTMLForm", "form"), ("Default", "dflt"),
    ]
}
