#include <sealwire.h>
#include <stdio.h>

int main(void) {
    uint8_t server_key[SEALWIRE_KEY_SIZE];
    sealwire_keys *keys;
    sealwire_authenticator *anyone;
    sealwire_security *of_server, *of_client;
    sealwire_socket *server, *client;
    sealwire_message *message;
    char *endpoint;
    if (sealwire_keys_generate(&keys) || sealwire_keys_public(keys, server_key)
        || sealwire_authenticator_anyone(&anyone)
        || sealwire_security_blake3_server(keys, anyone, &of_server)
        || sealwire_security_blake3_client(server_key, NULL, &of_client)
        || sealwire_socket_new(SEALWIRE_PULL, of_server, NULL, &server)
        || sealwire_socket_bind(server, "tcp://127.0.0.1:0", &endpoint)
        || sealwire_socket_new(SEALWIRE_PUSH, of_client, NULL, &client)
        || sealwire_socket_connect(client, endpoint)
        || sealwire_socket_send_bytes(client, "hello", 5, SEALWIRE_WAIT)
        || sealwire_socket_recv(server, SEALWIRE_WAIT, &message)) {
        fprintf(stderr, "%s\n", sealwire_last_error());
        return 1;
    }
    const char *text = sealwire_message_data(message);
    printf("%.*s from %s\n", (int)sealwire_message_size(message), text,
           sealwire_peer_address(sealwire_message_peer(message)));
    /* Where the process goes on, sealwire_message_free and so on, for each of them. */
    return 0;
}
