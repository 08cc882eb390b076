// SecretCryptoTests
