// The classes of items. Values are those of Apple's `SecItemConstants.c`.

public nonisolated(unsafe) let kSecClass: CFString = "class"
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"
/// There are none yet: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"
/// There are none yet: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
/// There are none yet: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"
/// Of Apple's older keychain only: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassAppleSharePassword: CFString = "apls"
