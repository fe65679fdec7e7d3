#error "crypto_hash is not offered: Sealwire has no SHA-512. Derive keys with sealwire_aead_derive_key of sealwire.h (BLAKE3), or take libsodium for SHA-512."
