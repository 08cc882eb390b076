#if canImport(Security)
public let canImportSecurity = true
#else
public let canImportSecurity = false
#endif
