// The values of ``kSecAttrKeyClass``, ``kSecAttrKeyType`` and the other attributes of keys, for code that refers to
// them. Keys are not supported yet.

public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"

public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
public nonisolated(unsafe) let kSecAttrKeyTypeDSA: CFString = "43"
public nonisolated(unsafe) let kSecAttrKeyTypeECDSA: CFString = "73"
public nonisolated(unsafe) let kSecAttrKeyTypeDES: CFString = "14"
public nonisolated(unsafe) let kSecAttrKeyType3DES: CFString = "17"
public nonisolated(unsafe) let kSecAttrKeyTypeRC2: CFString = "23"
public nonisolated(unsafe) let kSecAttrKeyTypeRC4: CFString = "25"
public nonisolated(unsafe) let kSecAttrKeyTypeCAST: CFString = "56"
public nonisolated(unsafe) let kSecAttrKeyTypeAES: CFString = "2147483649"

public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"

public nonisolated(unsafe) let kSecAttrAccessGroupToken: CFString = "com.apple.token"

public nonisolated(unsafe) let kSecPrivateKeyAttrs: CFString = "private"

public nonisolated(unsafe) let kSecPublicKeyAttrs: CFString = "public"
