#if canImport(Security) || canImport(LocalAuthentication)
public let canImportSecurity = true
#else
public let canImportSecurity = false
#endif
