/* A call with a stream in each direction: the caller sends numbers, the handler what they come to so far. */
#include <sealwire.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 60000 /* milliseconds */

static void check(sealwire_status status) {
    if (status != SEALWIRE_OK) {
        fprintf(stderr, "%s\n", sealwire_last_error());
        exit(1);
    }
}

static unsigned char number_in(sealwire_rpc_reply *item) {
    unsigned char number = 0;
    if (sealwire_rpc_reply_size(item) == 1) {
        number = *(const unsigned char *)sealwire_rpc_reply_data(item);
    }
    sealwire_rpc_reply_free(item);
    return number;
}

/* On a thread of its own, so it may wait. */
static void add(sealwire_rpc_request *request, void *user) {
    unsigned char sum = 0;
    sealwire_rpc_reply *item;
    (void)user;
    while (sealwire_rpc_request_next(request, SEALWIRE_WAIT, &item) == SEALWIRE_OK) {
        sum += number_in(item);
        if (sealwire_rpc_request_send(request, &sum, 1, SEALWIRE_WAIT) != SEALWIRE_OK) {
            break; /* The caller has gone. */
        }
    }
    sealwire_rpc_request_reply(request, &sum, 1);
}

int main(void) {
    uint8_t server_key[SEALWIRE_KEY_SIZE];
    sealwire_keys *keys;
    sealwire_authenticator *anyone;
    sealwire_security *of_server, *of_client;
    sealwire_rpc_server *server;
    sealwire_rpc_client *client;
    sealwire_rpc_stream *stream;
    sealwire_rpc_reply *item;
    char *endpoint;
    sealwire_rpc_handler handler = {add, NULL, NULL, NULL, 1};

    check(sealwire_keys_generate(&keys));
    check(sealwire_keys_public(keys, server_key));
    check(sealwire_authenticator_anyone(&anyone));
    check(sealwire_security_blake3_server(keys, anyone, &of_server));
    check(sealwire_security_blake3_client(server_key, NULL, &of_client));
    check(sealwire_rpc_server_new(of_server, NULL, &handler, &server));
    check(sealwire_rpc_server_bind(server, "tcp://127.0.0.1:0", &endpoint));
    check(sealwire_rpc_client_new(endpoint, of_client, NULL, NULL, &client));

    check(sealwire_rpc_client_open(client, "add", 3, LIMIT, &stream, NULL));
    for (unsigned char number = 1; number <= 3; number++) {
        check(sealwire_rpc_stream_send(stream, &number, 1, SEALWIRE_WAIT));
    }
    check(sealwire_rpc_stream_finish(stream));
    while (sealwire_rpc_stream_next(stream, SEALWIRE_WAIT, &item) == SEALWIRE_OK) {
        printf("so far %d\n", number_in(item));
    }
    /* Says how the call ended, and frees the stream. */
    check(sealwire_rpc_stream_answer(stream, &item, NULL));
    printf("in all %d\n", number_in(item));

    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);
    sealwire_string_free(endpoint);
    sealwire_security_free(of_server);
    sealwire_security_free(of_client);
    sealwire_authenticator_free(anyone);
    sealwire_keys_free(keys);
    return 0;
}
