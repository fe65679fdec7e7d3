/* A program for NaCl: nothing in it is Sealwire's. */
#include <stdio.h>
#include <string.h>

#include "crypto_box.h"
#include "randombytes.h"

#define TEXT "hello from NaCl"
#define SIZE (crypto_box_ZEROBYTES + sizeof TEXT)

int main(void) {
    unsigned char alice_public[crypto_box_PUBLICKEYBYTES], alice_secret[crypto_box_SECRETKEYBYTES];
    unsigned char bob_public[crypto_box_PUBLICKEYBYTES], bob_secret[crypto_box_SECRETKEYBYTES];
    unsigned char nonce[crypto_box_NONCEBYTES];
    unsigned char message[SIZE] = {0}, ciphertext[SIZE], opened[SIZE];

    crypto_box_keypair(alice_public, alice_secret);
    crypto_box_keypair(bob_public, bob_secret);
    randombytes(nonce, sizeof nonce);
    memcpy(message + crypto_box_ZEROBYTES, TEXT, sizeof TEXT);
    if (crypto_box(ciphertext, message, SIZE, nonce, bob_public, alice_secret) != 0
        || crypto_box_open(opened, ciphertext, SIZE, nonce, alice_public, bob_secret) != 0) {
        return 1;
    }
    puts((const char *)opened + crypto_box_ZEROBYTES);
    return 0;
}
