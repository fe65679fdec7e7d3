/* A peer in C: answers one request, or asks one question.
 *
 * peer answer|ask MECHANISM ENDPOINT OWN_KEYS_FILE PUBLIC_KEY_OF_THE_OTHER (64 hex digits) */
#include <sealwire.h>
#include <stdio.h>
#include <string.h>

static int failed(void) {
    fprintf(stderr, "%s\n", sealwire_last_error());
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    int answers = !strcmp(argv[1], "answer"), curve = !strcmp(argv[2], "curve");
    uint8_t other[SEALWIRE_KEY_SIZE];
    for (size_t i = 0; i < sizeof other; i++) {
        unsigned byte;
        if (sscanf(argv[5] + 2 * i, "%2x", &byte) != 1) return 2;
        other[i] = (uint8_t)byte;
    }
    sealwire_keys *keys;
    sealwire_authenticator *allowed;
    sealwire_security *security;
    sealwire_socket *socket;
    sealwire_message *message;
    if (sealwire_keys_read(argv[4], &keys)) return failed();
    if (answers) {
        if (sealwire_authenticator_keys(&allowed)
            || sealwire_authenticator_allow(allowed, other, "python")
            || (curve ? sealwire_security_curve_server : sealwire_security_blake3_server)(
                keys, allowed, &security))
            return failed();
        sealwire_authenticator_free(allowed);
    } else if ((curve ? sealwire_security_curve_client : sealwire_security_blake3_client)(
                   other, keys, &security)) {
        return failed();
    }
    if (sealwire_socket_new(answers ? SEALWIRE_REP : SEALWIRE_REQ, security, NULL, &socket))
        return failed();
    if (answers) {
        if (sealwire_socket_bind(socket, argv[3], NULL)
            || sealwire_socket_recv(socket, SEALWIRE_WAIT, &message)
            || sealwire_socket_send(socket, message, SEALWIRE_WAIT))
            return failed();
    } else {
        if (sealwire_socket_connect(socket, argv[3])
            || sealwire_socket_send_bytes(socket, "from C", 6, SEALWIRE_WAIT)
            || sealwire_socket_recv(socket, SEALWIRE_WAIT, &message))
            return failed();
        printf("%.*s", (int)sealwire_message_size(message),
               (const char *)sealwire_message_data(message));
        sealwire_message_free(message);
    }
    sealwire_socket_free(socket);
    sealwire_security_free(security);
    sealwire_keys_free(keys);
    return 0;
}
