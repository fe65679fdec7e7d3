/* NaCl's own interface beside libsodium's: the same bytes at every length, and each opens what the other sealed. */
#include "test.h"

#include <sodium.h>

#define SEALWIRE_NACL_WITHOUT_NAMES
#include <sealwire_nacl.h>

#define ZEROS crypto_box_ZEROBYTES
#define LONGEST 3000

int main(void) {
    static unsigned char text[ZEROS + LONGEST], ours[sizeof text], theirs[sizeof text], opened[sizeof text];
    unsigned char pk[2][32], sk[2][32], key[2][32], nonce[24], tag[2][16];
    CHECK(sodium_init() >= 0);
    CHECK(sealwire_nacl_box_keypair(pk[0], sk[0]) == 0);
    CHECK(crypto_box_keypair(pk[1], sk[1]) == 0);
    CHECK(crypto_scalarmult_base(key[0], sk[0]) == 0);
    CHECK(memcmp(key[0], pk[0], 32) == 0);
    CHECK(sealwire_nacl_scalarmult(key[0], sk[0], pk[1]) == 0);
    CHECK(crypto_scalarmult(key[1], sk[1], pk[0]) == 0);
    CHECK(memcmp(key[0], key[1], 32) == 0);
    CHECK(sealwire_nacl_box_beforenm(key[0], pk[1], sk[0]) == 0);
    CHECK(crypto_box_beforenm(key[1], pk[0], sk[1]) == 0);
    CHECK(memcmp(key[0], key[1], 32) == 0);

    for (size_t length = 0; length <= LONGEST; length += length < 300 ? 1 : 97) {
        size_t size = ZEROS + length;
        randombytes_buf(nonce, sizeof nonce);
        memset(text, 0, ZEROS);
        randombytes_buf(text + ZEROS, length);

        CHECK(sealwire_nacl_box(ours, text, size, nonce, pk[1], sk[0]) == 0);
        CHECK(crypto_box(theirs, text, size, nonce, pk[0], sk[1]) == 0);
        CHECK(memcmp(ours, theirs, size) == 0);
        CHECK(crypto_box_open(opened, ours, size, nonce, pk[0], sk[1]) == 0);
        CHECK(memcmp(opened, text, size) == 0);
        CHECK(sealwire_nacl_box_open(opened, theirs, size, nonce, pk[1], sk[0]) == 0);
        CHECK(memcmp(opened, text, size) == 0);
        CHECK(sealwire_nacl_secretbox(ours, text, size, nonce, key[0]) == 0);
        CHECK(crypto_secretbox(theirs, text, size, nonce, key[1]) == 0);
        CHECK(memcmp(ours, theirs, size) == 0);
        CHECK(crypto_secretbox_open(opened, ours, size, nonce, key[1]) == 0);
        CHECK(sealwire_nacl_secretbox_open(opened, theirs, size, nonce, key[0]) == 0);
        CHECK(memcmp(opened, text, size) == 0);

        CHECK(sealwire_nacl_onetimeauth(tag[0], text, size, key[0]) == 0);
        CHECK(crypto_onetimeauth(tag[1], text, size, key[1]) == 0);
        CHECK(memcmp(tag[0], tag[1], 16) == 0);
        CHECK(crypto_onetimeauth_verify(tag[0], text, size, key[1]) == 0);
        CHECK(sealwire_nacl_onetimeauth_verify(tag[1], text, size, key[0]) == 0);

        CHECK(sealwire_nacl_stream(ours, size, nonce, key[0]) == 0);
        CHECK(crypto_stream(theirs, size, nonce, key[1]) == 0);
        CHECK(memcmp(ours, theirs, size) == 0);
        CHECK(sealwire_nacl_stream_xor(ours, text, length, nonce, key[0]) == 0);
        CHECK(crypto_stream_xor(theirs, text, length, nonce, key[1]) == 0);
        CHECK(memcmp(ours, theirs, length) == 0);
    }
    return 0;
}
