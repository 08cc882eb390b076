// The attributes of items. Values are those of Apple's `SecItemConstants.c`.

// Of every class.
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"
/// A value of ``kSecAttrSynchronizable`` in a search: items that synchronize and items that do not.
public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"
public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"
public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"
public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"
/// Refused with errSecParam, because there are no tokens.
public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"
/// Refused with errSecParam, because there are no views of a synchronized keychain.
public nonisolated(unsafe) let kSecAttrSyncViewHint: CFString = "vwht"
/// Refused with errSecParam, because only the system sets it. ``kSecValuePersistentRef`` finds an item by its reference.
public nonisolated(unsafe) let kSecAttrPersistentReference: CFString = "persistref"
/// The older name of ``kSecAttrPersistentReference``, as Apple spells it.
public nonisolated(unsafe) let kSecAttrPersistantReference: CFString = "persistref"  // words:ignore (Apple's name)
/// Only in Apple's older keychain: errSecNoSuchAttr.
public nonisolated(unsafe) let kSecAttrAccess: CFString = "acls"

// Passwords.
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"
public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"
public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"
public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"
public nonisolated(unsafe) let kSecAttrType: CFString = "type"
public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"
public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"

// Generic passwords.
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"

// Internet passwords.
public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"
public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"
public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"
public nonisolated(unsafe) let kSecAttrAuthenticationType: CFString = "atyp"
public nonisolated(unsafe) let kSecAttrPort: CFString = "port"
public nonisolated(unsafe) let kSecAttrPath: CFString = "path"

// Certificates.
public nonisolated(unsafe) let kSecAttrSubject: CFString = "subj"
public nonisolated(unsafe) let kSecAttrIssuer: CFString = "issr"
public nonisolated(unsafe) let kSecAttrSerialNumber: CFString = "slnr"
public nonisolated(unsafe) let kSecAttrSubjectKeyID: CFString = "skid"
public nonisolated(unsafe) let kSecAttrPublicKeyHash: CFString = "pkhh"
public nonisolated(unsafe) let kSecAttrCertificateType: CFString = "ctyp"
public nonisolated(unsafe) let kSecAttrCertificateEncoding: CFString = "cenc"

// Keys.
public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"
public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"
public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"
public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"
public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"
public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"
public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"
public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"
public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"
public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"
public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"
public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"
