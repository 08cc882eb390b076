// The values of ``kSecAttrAuthenticationType``.

public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
