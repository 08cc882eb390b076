// KeychainTree
