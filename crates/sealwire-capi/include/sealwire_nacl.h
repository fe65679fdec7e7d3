/*
 * NaCl's names for Sealwire's functions. Programs that include crypto_box.h and its like compile unchanged with
 * the flags of `pkg-config --cflags --libs sealwire-nacl`.
 *
 * Made by check.sh from the comments in crates/sealwire-capi/src/nacl/names.rs; do not edit.
 *
 * - Functions return 0, or -1 for what cannot be done; sealwire_last_error in sealwire.h says why. randombytes
 *   returns nothing.
 * - Messages begin with 32 zero bytes and ciphertexts with 16, which their lengths count. Others are refused.
 * - Results are written only on success. NULL is -1, unless the length is 0.
 * - Keys, nonces and tags have no length argument: the constants below are their sizes in bytes.
 * - Keys that are written are yours to wipe.
 * - Never use a nonce for two messages under one key: the XOR of their texts and forgeries could be had from that.
 *   Random nonces (randombytes) of 24 bytes do not collide.
 *
 * crypto_sign, crypto_hash and crypto_auth are not offered; their headers say why.
 *
 * sodium.h declares the same names. Where a file needs both, define SEALWIRE_NACL_WITHOUT_NAMES before this
 * header: the functions are then there as sealwire_nacl_... alone.
 *
 * Experimental and not audited: read docs/security.md before you rely on it.
 */


#ifndef SEALWIRE_NACL_H
#define SEALWIRE_NACL_H

#ifndef SEALWIRE_NACL_WITHOUT_NAMES

#define crypto_box_PRIMITIVE "curve25519xsalsa20poly1305"
#define crypto_box_PUBLICKEYBYTES 32
#define crypto_box_SECRETKEYBYTES 32
#define crypto_box_BEFORENMBYTES 32
#define crypto_box_NONCEBYTES 24
#define crypto_box_ZEROBYTES 32
#define crypto_box_BOXZEROBYTES 16
#define crypto_box_keypair sealwire_nacl_box_keypair
#define crypto_box sealwire_nacl_box
#define crypto_box_open sealwire_nacl_box_open
#define crypto_box_beforenm sealwire_nacl_box_beforenm
#define crypto_box_afternm sealwire_nacl_secretbox
#define crypto_box_open_afternm sealwire_nacl_secretbox_open

#define crypto_secretbox_PRIMITIVE "xsalsa20poly1305"
#define crypto_secretbox_KEYBYTES 32
#define crypto_secretbox_NONCEBYTES 24
#define crypto_secretbox_ZEROBYTES 32
#define crypto_secretbox_BOXZEROBYTES 16
#define crypto_secretbox sealwire_nacl_secretbox
#define crypto_secretbox_open sealwire_nacl_secretbox_open

#define crypto_scalarmult_PRIMITIVE "curve25519"
#define crypto_scalarmult_BYTES 32
#define crypto_scalarmult_SCALARBYTES 32
#define crypto_scalarmult sealwire_nacl_scalarmult
#define crypto_scalarmult_base sealwire_nacl_scalarmult_base

#define crypto_onetimeauth_PRIMITIVE "poly1305"
#define crypto_onetimeauth_BYTES 16
#define crypto_onetimeauth_KEYBYTES 32
#define crypto_onetimeauth sealwire_nacl_onetimeauth
#define crypto_onetimeauth_verify sealwire_nacl_onetimeauth_verify

#define crypto_stream_PRIMITIVE "xsalsa20"
#define crypto_stream_KEYBYTES 32
#define crypto_stream_NONCEBYTES 24
#define crypto_stream sealwire_nacl_stream
#define crypto_stream_xor sealwire_nacl_stream_xor

#define crypto_verify_16_BYTES 16
#define crypto_verify_16 sealwire_nacl_verify_16
#define crypto_verify_32_BYTES 32
#define crypto_verify_32 sealwire_nacl_verify_32

#define randombytes sealwire_nacl_randombytes

#endif


#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * `crypto_box_keypair`: writes a fresh key pair, 32 bytes each.
 *
 * Returns -1 where the operating system has no randomness.
 */
int sealwire_nacl_box_keypair(unsigned char *pk, unsigned char *sk);

/**
 * `crypto_box`: seals the message `m` of `mlen` bytes, the first 32 of which are zero, for the owner of `pk`,
 * under a nonce that is never used for another message between the two. Writes `mlen` bytes to `c`, which
 * may be where `m` is: 16 zeros, the tag, the ciphertext.
 *
 * Returns -1 for a message that does not begin with 32 zeros, and for a public key of low order.
 */
int sealwire_nacl_box(unsigned char *c,
                      const unsigned char *m,
                      unsigned long long mlen,
                      const unsigned char *n,
                      const unsigned char *pk,
                      const unsigned char *sk);

/**
 * `crypto_box_open`: opens what the owner of `pk` sealed, `clen` bytes, the first 16 of which are zero.
 * Writes `clen` bytes to `m`, which may be where `c` is: 32 zeros, the text.
 *
 * Returns -1 and writes nothing for what is not authentic, for less than 32 bytes, for one that does not
 * begin with 16 zeros, and for a public key of low order.
 */
int sealwire_nacl_box_open(unsigned char *m,
                           const unsigned char *c,
                           unsigned long long clen,
                           const unsigned char *n,
                           const unsigned char *pk,
                           const unsigned char *sk);

/**
 * `crypto_box_beforenm`: writes the key (32 bytes) that the owners of two key pairs share, for any number of
 * messages both ways.
 *
 * Returns -1 for a public key of low order.
 */
int sealwire_nacl_box_beforenm(unsigned char *k,
                               const unsigned char *pk,
                               const unsigned char *sk);

/**
 * `crypto_secretbox`, and `crypto_box_afternm`: seals under a key of 32 bytes. As `crypto_box` otherwise.
 */
int sealwire_nacl_secretbox(unsigned char *c,
                            const unsigned char *m,
                            unsigned long long mlen,
                            const unsigned char *n,
                            const unsigned char *k);

/**
 * `crypto_secretbox_open`, and `crypto_box_open_afternm`: opens under a key of 32 bytes. As `crypto_box_open`
 * otherwise.
 */
int sealwire_nacl_secretbox_open(unsigned char *m,
                                 const unsigned char *c,
                                 unsigned long long clen,
                                 const unsigned char *n,
                                 const unsigned char *k);

/**
 * `crypto_scalarmult`: writes the product (32 bytes) of the point `p` and the scalar `n`, which is X25519. It is
 * not a key: hash it, with both public keys.
 *
 * Returns -1 and writes nothing where the product is zero, as with a point of low order. NaCl returns 0 there,
 * libsodium -1.
 */
int sealwire_nacl_scalarmult(unsigned char *q,
                             const unsigned char *n,
                             const unsigned char *p);

/**
 * `crypto_scalarmult_base`: writes the public key (32 bytes) of the secret key `n`.
 */
int sealwire_nacl_scalarmult_base(unsigned char *q, const unsigned char *n);

/**
 * `crypto_onetimeauth`: writes the tag (16 bytes) of a message, which is Poly1305. The key of 32 bytes is for
 * this message alone: two tags under one key give it away.
 */
int sealwire_nacl_onetimeauth(unsigned char *a,
                              const unsigned char *m,
                              unsigned long long mlen,
                              const unsigned char *k);

/**
 * `crypto_onetimeauth_verify`: returns 0 where the tag is that of the message, and -1 where it is not, in
 * constant time.
 */
int sealwire_nacl_onetimeauth_verify(const unsigned char *a,
                                     const unsigned char *m,
                                     unsigned long long mlen,
                                     const unsigned char *k);

/**
 * `crypto_stream`: writes the first `clen` bytes of the keystream of a key (32 bytes) and a nonce, which is
 * XSalsa20.
 */
int sealwire_nacl_stream(unsigned char *c,
                         unsigned long long clen,
                         const unsigned char *n,
                         const unsigned char *k);

/**
 * `crypto_stream_xor`: XORs that keystream with a message and writes `mlen` bytes to `c`, which may be where
 * `m` is. Nothing notices a changed ciphertext: use `crypto_secretbox` for messages.
 */
int sealwire_nacl_stream_xor(unsigned char *c,
                             const unsigned char *m,
                             unsigned long long mlen,
                             const unsigned char *n,
                             const unsigned char *k);

/**
 * `crypto_verify_16`: returns 0 where 16 bytes are the same as others, and -1 where they are not, in constant
 * time.
 */
int sealwire_nacl_verify_16(const unsigned char *x,
                            const unsigned char *y);

/**
 * `crypto_verify_32`: the same for 32 bytes.
 */
int sealwire_nacl_verify_32(const unsigned char *x, const unsigned char *y);

/**
 * `randombytes`: fills `xlen` bytes from the randomness of the operating system.
 *
 * It has no way to report a failure, and no caller expects one: where there is no randomness, and where `x` is
 * NULL, it ends the process with `abort`.
 */
void sealwire_nacl_randombytes(unsigned char *x,
                               unsigned long long xlen);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALWIRE_NACL_H */
