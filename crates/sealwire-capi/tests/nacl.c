/* `box` and `secretbox`: what one side seals libsodium opens, and the other way round. */
#include "test.h"

#include <sodium.h>

int main(void) {
    uint8_t public_a[32], secret_a[32], public_b[32], secret_b[32], nonce[24], key[32], theirs[32];
    uint8_t text[1100], ours[1116], sodium[1116], opened[1116];
    CHECK(sodium_init() >= 0);
    OK(sealwire_box_generate(public_a, secret_a));
    OK(sealwire_box_public(secret_a, key));
    CHECK(memcmp(key, public_a, 32) == 0);
    crypto_box_keypair(public_b, secret_b);
    OK(sealwire_box_shared(public_b, secret_a, key));
    CHECK(crypto_box_beforenm(theirs, public_a, secret_b) == 0);
    CHECK(memcmp(key, theirs, 32) == 0);

    for (size_t size = 0; size <= sizeof text; size += size < 130 ? 1 : 97) {
        size_t sealed = size + SEALWIRE_BOX_TAG_SIZE;
        randombytes_buf(nonce, sizeof nonce);
        randombytes_buf(text, size);
        OK(sealwire_box_seal(public_b, secret_a, nonce, text, size, ours));
        CHECK(crypto_box_easy(sodium, text, size, nonce, public_a, secret_b) == 0);
        CHECK(memcmp(ours, sodium, sealed) == 0);
        CHECK(crypto_box_open_easy(opened, ours, sealed, nonce, public_a, secret_b) == 0);
        OK(sealwire_box_open(public_b, secret_a, nonce, sodium, sealed, opened));
        CHECK(memcmp(opened, text, size) == 0);
        OK(sealwire_secretbox_seal(key, nonce, text, size, ours));
        CHECK(crypto_secretbox_easy(sodium, text, size, nonce, key) == 0);
        CHECK(memcmp(ours, sodium, sealed) == 0);
        /* In place. */
        OK(sealwire_secretbox_open(key, nonce, ours, sealed, ours));
        CHECK(memcmp(ours, text, size) == 0);
        OK(sealwire_secretbox_seal(key, nonce, ours, size, ours));
        CHECK(memcmp(ours, sodium, sealed) == 0);

        sodium[0] ^= 1;
        memset(opened, 0xaa, sizeof opened);
        RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_secretbox_open(key, nonce, sodium, sealed, opened));
        RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                sealwire_box_open(public_b, secret_a, nonce, sodium, sealed, opened));
        for (size_t i = 0; i < sizeof opened; i++) {
            CHECK(opened[i] == 0xaa);
        }
    }

    memset(key, 0, sizeof key);
    RETURNS(SEALWIRE_ERROR_WEAK_KEY, sealwire_box_shared(key, secret_a, theirs));
    RETURNS(SEALWIRE_ERROR_WEAK_KEY, sealwire_box_seal(key, secret_a, nonce, text, 1, ours));
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_secretbox_open(key, nonce, ours, 15, opened));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_secretbox_seal(NULL, nonce, text, 1, ours));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_secretbox_seal(key, NULL, text, 1, ours));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_secretbox_seal(key, nonce, NULL, 1, ours));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_secretbox_seal(key, nonce, text, 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_secretbox_open(key, nonce, ours, 17, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_box_generate(NULL, secret_a));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_box_public(NULL, public_a));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_box_shared(NULL, secret_a, key));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_box_open(public_b, NULL, nonce, sodium, 17, opened));
    return 0;
}
