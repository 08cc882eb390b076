// KeychainTreeTests
