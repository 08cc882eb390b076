// KeychainMount
