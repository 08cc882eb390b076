// The classes of items. Values are those of Apple's `SecItemConstants.c`.

public nonisolated(unsafe) let kSecClass: CFString = "class"
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"
/// Not supported yet: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"
/// Not supported yet: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
/// Not supported yet: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"
/// Only in Apple's older keychain: errSecNoSuchClass.
public nonisolated(unsafe) let kSecClassAppleSharePassword: CFString = "apls"
