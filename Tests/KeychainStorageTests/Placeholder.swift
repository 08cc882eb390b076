// KeychainStorageTests
