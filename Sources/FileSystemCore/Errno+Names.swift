public import SystemPackage

/// Error numbers of Linux that the file systems here use and SystemPackage has no name for (errno(3)).
extension Errno {
    /// ENODATA: the extended attribute is not there.
    public static let noAttribute = Errno(rawValue: 61)
    /// EBADMSG: what is stored is not what was written.
    public static let corrupt = Errno(rawValue: 74)
    /// ENOKEY: the key to it is not available ("Required key not available").
    public static let noKey = Errno(rawValue: 126)
    /// EKEYREJECTED: the wrong key or passphrase.
    public static let keyRejected = Errno(rawValue: 129)
    /// E2BIG
    public static let listTooLong = Errno(rawValue: 7)
    /// EXDEV
    public static let crossDevice = Errno(rawValue: 18)
    /// EILSEQ
    public static let illegalSequence = Errno(rawValue: 84)
    /// EOPNOTSUPP
    public static let operationNotSupported = Errno(rawValue: 95)
}
