// SecretCrypto
