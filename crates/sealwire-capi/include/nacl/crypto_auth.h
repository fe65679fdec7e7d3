#error "crypto_auth is not offered: Sealwire has no HMAC-SHA-512-256. Use crypto_secretbox, or sealwire_aead_seal of sealwire.h, which authenticates data without encrypting it too."
