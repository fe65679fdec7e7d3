/* NaCl's own interface: the known answers of vectors/nacl.json under NaCl's names, and what is refused. */
#include "crypto_box.h"
#include "crypto_onetimeauth.h"
#include "crypto_scalarmult.h"
#include "crypto_secretbox.h"
#include "crypto_stream.h"
#include "crypto_verify_16.h"
#include "crypto_verify_32.h"
#include "randombytes.h"

#include "nacl_vectors.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE sizeof padded_message
#define TEXT_SIZE sizeof message

static void boxes_are_those_of_the_paper(void) {
    unsigned char out[SIZE], key[crypto_box_BEFORENMBYTES];
    CHECK(crypto_box(out, padded_message, SIZE, nonce, bob_public, alice_secret) == 0);
    CHECK(memcmp(out, padded_ciphertext, SIZE) == 0);
    memset(out, 0xff, SIZE);
    CHECK(crypto_box_open(out, padded_ciphertext, SIZE, nonce, alice_public, bob_secret) == 0);
    CHECK(memcmp(out, padded_message, SIZE) == 0);

    CHECK(crypto_box_beforenm(key, alice_public, bob_secret) == 0);
    CHECK(memcmp(key, shared, sizeof key) == 0);
    CHECK(crypto_box_afternm(out, padded_message, SIZE, nonce, key) == 0);
    CHECK(memcmp(out, padded_ciphertext, SIZE) == 0);
    /* In place. */
    CHECK(crypto_box_open_afternm(out, out, SIZE, nonce, key) == 0);
    CHECK(memcmp(out, padded_message, SIZE) == 0);
    CHECK(crypto_secretbox(out, out, SIZE, nonce, key) == 0);
    CHECK(memcmp(out, padded_ciphertext, SIZE) == 0);
    CHECK(crypto_secretbox_open(out, out, SIZE, nonce, key) == 0);
    CHECK(memcmp(out, padded_message, SIZE) == 0);
}

static void parts_are_those_of_the_paper(void) {
    unsigned char out[SIZE], product[crypto_scalarmult_BYTES], a[crypto_onetimeauth_BYTES];
    CHECK(crypto_scalarmult_base(product, alice_secret) == 0);
    CHECK(memcmp(product, alice_public, sizeof product) == 0);
    CHECK(crypto_scalarmult(product, alice_secret, bob_public) == 0);
    CHECK(memcmp(product, agreed, sizeof product) == 0);

    for (size_t i = 0; i < PRODUCTS; i++) {
        CHECK(crypto_scalarmult(product, products[i].scalar, products[i].point) == 0);
        CHECK(memcmp(product, products[i].product, sizeof product) == 0);
    }

    unsigned char again[SIZE];
    CHECK(crypto_stream(out, 32, nonce, shared) == 0);
    CHECK(memcmp(out, authentication_key, 32) == 0);
    /* To its last byte, and no further. */
    memset(again, 0xaa, SIZE);
    CHECK(crypto_stream(again, SIZE - 1, nonce, shared) == 0);
    CHECK(again[SIZE - 1] == 0xaa);
    CHECK(crypto_stream(again, SIZE, nonce, shared) == 0);
    CHECK(memcmp(again, authentication_key, 32) == 0);
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        CHECK((again[32 + i] ^ message[i]) == ciphertext[i]);
    }
    /* What the padding is for: its keystream is the key of the tag. */
    CHECK(crypto_stream_xor(out, padded_message, SIZE, nonce, shared) == 0);
    CHECK(memcmp(out, authentication_key, 32) == 0);
    CHECK(memcmp(out + 32, ciphertext, TEXT_SIZE) == 0);
    CHECK(crypto_stream_xor(out, out, SIZE, nonce, shared) == 0);
    CHECK(memcmp(out, padded_message, SIZE) == 0);

    CHECK(crypto_onetimeauth(a, ciphertext, TEXT_SIZE, authentication_key) == 0);
    CHECK(memcmp(a, tag, sizeof a) == 0);
    CHECK(crypto_onetimeauth_verify(a, ciphertext, TEXT_SIZE, authentication_key) == 0);
}

/* What is refused writes nothing and has a reason. */
static void refused(int returned, const unsigned char *out, const char *reason) {
    CHECK(returned == -1);
    if (strstr(sealwire_last_error(), reason) == NULL) {
        fprintf(stderr, "not \"%s\" but \"%s\"\n", reason, sealwire_last_error());
        exit(1);
    }
    for (size_t i = 0; i < SIZE; i++) {
        CHECK(out[i] == 0xaa);
    }
}

static void wrong_padding_is_refused(void) {
    unsigned char out[SIZE], m[SIZE], c[SIZE];
    memset(out, 0xaa, SIZE);
    for (size_t i = 0; i < 32; i++) {
        memcpy(m, padded_message, SIZE);
        m[i] = 1;
        refused(crypto_box(out, m, SIZE, nonce, bob_public, alice_secret), out, "32 zero bytes");
        refused(crypto_box_afternm(out, m, SIZE, nonce, shared), out, "32 zero bytes");
        refused(crypto_secretbox(out, m, SIZE, nonce, shared), out, "32 zero bytes");
    }
    for (size_t i = 0; i < 16; i++) {
        memcpy(c, padded_ciphertext, SIZE);
        c[i] = 1;
        refused(crypto_box_open(out, c, SIZE, nonce, alice_public, bob_secret), out, "16 zero bytes");
        refused(crypto_box_open_afternm(out, c, SIZE, nonce, shared), out, "16 zero bytes");
        refused(crypto_secretbox_open(out, c, SIZE, nonce, shared), out, "16 zero bytes");
    }
    for (size_t size = 0; size < 32; size++) {
        refused(crypto_secretbox(out, padded_message, size, nonce, shared), out, "less than the 32");
        refused(crypto_secretbox_open(out, padded_ciphertext, size, nonce, shared), out, "less than the 32");
    }
    refused(crypto_secretbox(out, padded_message, ~0ull, nonce, shared), out, "m cannot have");
}

static void forgeries_are_refused(void) {
    unsigned char out[SIZE], c[SIZE], a[16];
    memset(out, 0xaa, SIZE);
    for (size_t i = 16; i < SIZE; i++) {
        memcpy(c, padded_ciphertext, SIZE);
        c[i] ^= 0x10;
        refused(crypto_box_open(out, c, SIZE, nonce, alice_public, bob_secret), out, "not authentic");
        refused(crypto_secretbox_open(out, c, SIZE, nonce, shared), out, "not authentic");
        if (i >= 32) {
            refused(crypto_onetimeauth_verify(tag, c + 32, TEXT_SIZE, authentication_key), out, "not authentic");
        }
    }
    for (size_t size = 32; size < SIZE; size++) {
        refused(crypto_secretbox_open(out, padded_ciphertext, size, nonce, shared), out, "not authentic");
    }
    for (size_t i = 0; i < 16; i++) {
        memcpy(a, tag, sizeof a);
        a[i] ^= 1;
        refused(crypto_onetimeauth_verify(a, ciphertext, TEXT_SIZE, authentication_key), out, "not authentic");
        refused(crypto_verify_16(a, tag), out, "differ");
    }
    CHECK(crypto_verify_16(tag, padded_ciphertext + 16) == 0);
    CHECK(crypto_verify_32(shared, shared) == 0);
    for (size_t i = 0; i < 32; i++) {
        memcpy(c, shared, 32);
        c[i] ^= 0x80;
        refused(crypto_verify_32(c, shared), out, "differ");
    }
}

static void points_of_low_order_are_refused(void) {
    unsigned char out[SIZE], point[32];
    memset(out, 0xaa, SIZE);
    for (unsigned char first = 0; first < 2; first++) {
        memset(point, 0, sizeof point);
        point[0] = first;
        refused(crypto_scalarmult(out, alice_secret, point), out, "low order");
        refused(crypto_box_beforenm(out, point, alice_secret), out, "low order");
        refused(crypto_box(out, padded_message, SIZE, nonce, point, alice_secret), out, "low order");
        refused(crypto_box_open(out, padded_ciphertext, SIZE, nonce, point, alice_secret), out, "low order");
    }
}

static void null_is_refused(void) {
    unsigned char out[SIZE];
    memset(out, 0xaa, SIZE);
    refused(crypto_box_keypair(NULL, out), out, "pk is NULL");
    refused(crypto_box_keypair(out, NULL), out, "sk is NULL");
    refused(crypto_box(NULL, padded_message, SIZE, nonce, bob_public, alice_secret), out, "c is NULL");
    refused(crypto_box(out, NULL, SIZE, nonce, bob_public, alice_secret), out, "m is NULL");
    refused(crypto_box(out, padded_message, SIZE, NULL, bob_public, alice_secret), out, "n is NULL");
    refused(crypto_box(out, padded_message, SIZE, nonce, NULL, alice_secret), out, "public_key is NULL");
    refused(crypto_box(out, padded_message, SIZE, nonce, bob_public, NULL), out, "secret_key is NULL");
    refused(crypto_box_open(NULL, padded_ciphertext, SIZE, nonce, alice_public, bob_secret), out, "m is NULL");
    refused(crypto_box_open(out, NULL, SIZE, nonce, alice_public, bob_secret), out, "c is NULL");
    refused(crypto_box_beforenm(NULL, alice_public, bob_secret), out, "k is NULL");
    refused(crypto_secretbox(out, padded_message, SIZE, nonce, NULL), out, "k is NULL");
    refused(crypto_secretbox_open(out, padded_ciphertext, SIZE, nonce, NULL), out, "k is NULL");
    refused(crypto_scalarmult(NULL, alice_secret, bob_public), out, "q is NULL");
    refused(crypto_scalarmult(out, NULL, bob_public), out, "n is NULL");
    refused(crypto_scalarmult(out, alice_secret, NULL), out, "p is NULL");
    refused(crypto_scalarmult_base(out, NULL), out, "n is NULL");
    refused(crypto_onetimeauth(NULL, padded_message, SIZE, shared), out, "a is NULL");
    refused(crypto_onetimeauth(out, NULL, SIZE, shared), out, "m is NULL");
    refused(crypto_onetimeauth_verify(NULL, padded_message, SIZE, shared), out, "a is NULL");
    refused(crypto_stream(NULL, SIZE, nonce, shared), out, "c is NULL");
    refused(crypto_stream(out, SIZE, NULL, shared), out, "n is NULL");
    refused(crypto_stream_xor(out, NULL, SIZE, nonce, shared), out, "m is NULL");
    refused(crypto_stream_xor(NULL, padded_message, SIZE, nonce, shared), out, "c is NULL");
    refused(crypto_verify_16(NULL, tag), out, "x is NULL");
    refused(crypto_verify_32(shared, NULL), out, "y is NULL");
    /* Where there is nothing to read or to write. */
    CHECK(crypto_stream(NULL, 0, nonce, shared) == 0);
    CHECK(crypto_stream_xor(NULL, NULL, 0, nonce, shared) == 0);
    CHECK(crypto_onetimeauth(out, NULL, 0, shared) == 0);
    randombytes(NULL, 0);
}

static void keys_are_random(void) {
    unsigned char pk[2][crypto_box_PUBLICKEYBYTES], sk[2][crypto_box_SECRETKEYBYTES], public_key[32];
    unsigned char random[2][64];
    for (int i = 0; i < 2; i++) {
        CHECK(crypto_box_keypair(pk[i], sk[i]) == 0);
        CHECK(crypto_scalarmult_base(public_key, sk[i]) == 0);
        CHECK(memcmp(pk[i], public_key, 32) == 0);
        memset(random[i], 0, 64);
        randombytes(random[i], 63);
        CHECK(random[i][63] == 0);
    }
    CHECK(memcmp(sk[0], sk[1], 32) != 0);
    CHECK(memcmp(random[0], random[1], 63) != 0);
}

/* It cannot say that it wrote nothing, so nothing after it may run. */
static void randombytes_without_a_place_ends_the_process(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        randombytes(NULL, 1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    boxes_are_those_of_the_paper();
    parts_are_those_of_the_paper();
    wrong_padding_is_refused();
    forgeries_are_refused();
    points_of_low_order_are_refused();
    null_is_refused();
    keys_are_random();
    randombytes_without_a_place_ends_the_process();
    return 0;
}
