#error "crypto_sign is not offered: Sealwire has no Ed25519. Authenticate to a known peer with crypto_box, sign with the crate sealwire-newplex, or take libsodium for Ed25519."
