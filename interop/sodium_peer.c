/*
 * libsodium itself, driven by a test: crypto_box in one step and in two.
 *
 * Reads lines of "secret public nonce message", all hexadecimal ("-" for no message), and prints
 * what crypto_box_easy and crypto_box_easy_afternm make of each.
 * Build: cc -O2 -o sodium_peer sodium_peer.c -lsodium
 */

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MESSAGE = 1 << 16, LINE = 2 * MAX_MESSAGE + 512 };

static size_t bytes(const char *hex, unsigned char *out, size_t room)
{
    size_t size = 0;
    if (hex == NULL || (strcmp(hex, "-") != 0 &&
                        sodium_hex2bin(out, room, hex, strlen(hex), NULL, &size, NULL) != 0))
        exit(1);
    return size;
}

int main(void)
{
    static char line[LINE], hex[LINE];
    static unsigned char message[MAX_MESSAGE], one[MAX_MESSAGE + 16], two[MAX_MESSAGE + 16];
    unsigned char secret[32], public[32], nonce[24], shared[32];
    if (sodium_init() < 0)
        return 1;
    while (fgets(line, sizeof line, stdin)) {
        if (bytes(strtok(line, " \n"), secret, 32) != 32 || bytes(strtok(NULL, " \n"), public, 32) != 32 ||
            bytes(strtok(NULL, " \n"), nonce, 24) != 24)
            return 1;
        size_t size = bytes(strtok(NULL, " \n"), message, sizeof message);
        if (crypto_box_easy(one, message, size, nonce, public, secret) != 0 ||
            crypto_box_beforenm(shared, public, secret) != 0 ||
            crypto_box_easy_afternm(two, message, size, nonce, shared) != 0 ||
            memcmp(one, two, size + 16) != 0)
            return 1;
        puts(sodium_bin2hex(hex, sizeof hex, one, size + 16));
        fflush(stdout);
    }
    return 0;
}
