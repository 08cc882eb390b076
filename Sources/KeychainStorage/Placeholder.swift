// KeychainStorage
