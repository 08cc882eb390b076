// KeychainTesting
