public import SystemPackage

/// Error numbers of Linux that SystemPackage does not define (errno(3)).
extension Errno {
    /// ENODATA: the extended attribute does not exist.
    public static let noAttribute = Errno(rawValue: 61)
    /// EBADMSG: the stored data is not authentic.
    public static let corrupt = Errno(rawValue: 74)
    /// ENOKEY: the key is not available ("Required key not available").
    public static let noKey = Errno(rawValue: 126)
    /// EKEYREJECTED: the wrong key or passphrase.
    public static let keyRejected = Errno(rawValue: 129)
    /// EKEYREVOKED: the key has been replaced since.
    public static let keyRevoked = Errno(rawValue: 128)
    /// E2BIG
    public static let listTooLong = Errno(rawValue: 7)
    /// EXDEV
    public static let crossDevice = Errno(rawValue: 18)
    /// EILSEQ
    public static let illegalSequence = Errno(rawValue: 84)
    /// EOPNOTSUPP
    public static let operationNotSupported = Errno(rawValue: 95)
}
