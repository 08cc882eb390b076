// The kSecUse… keys. There is one keychain and no user interface, so most of them are accepted and have no effect.

/// Refused with errSecParam.
public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"
public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
