// KeychainTests
