/* What the tests share: checks that name themselves, and objects of every kind. */
#ifndef SEALWIRE_TEST_H
#define SEALWIRE_TEST_H

#include <sealwire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nothing here takes that long unless it is broken. Milliseconds. */
#define TIMEOUT 60000

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The call returns this number, and for an error says why. */
#define RETURNS(expected, call)                                                                    \
    do {                                                                                           \
        sealwire_status status_ = (call);                                                          \
        if (status_ != (expected)) {                                                               \
            fprintf(stderr, "%s:%d: %s gives %d (%s: %s)\n", __FILE__, __LINE__, #call,            \
                    (int)status_, sealwire_status_text(status_), sealwire_last_error());           \
            exit(1);                                                                               \
        }                                                                                          \
        CHECK(status_ == SEALWIRE_OK || strlen(sealwire_last_error()) > 0);                        \
    } while (0)

#define OK(call) RETURNS(SEALWIRE_OK, call)

static inline const uint8_t *octets(const char *text) {
    return (const uint8_t *)text;
}

/* Options under which a broken test ends. */
static inline sealwire_options *options_with_timeouts(void) {
    sealwire_options *options = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_SEND_TIMEOUT_MS, TIMEOUT));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECEIVE_TIMEOUT_MS, TIMEOUT));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECONNECT_INTERVAL_MS, 10));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_RECONNECT_MAXIMUM_MS, 100));
    return options;
}

static inline sealwire_socket *make_socket(int32_t type, const sealwire_security *security) {
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *socket = NULL;
    OK(sealwire_socket_new(type, security, options, &socket));
    sealwire_options_free(options);
    return socket;
}

/* Handshakes of calls that take as long as a test may: they end the call that waits for one. */
static inline sealwire_options *options_of_calls(void) {
    sealwire_options *options = NULL;
    OK(sealwire_options_new(&options));
    OK(sealwire_options_set(options, SEALWIRE_OPTION_HANDSHAKE_TIMEOUT_MS, TIMEOUT));
    return options;
}

static inline sealwire_rpc_server *make_server(const sealwire_security *security, const sealwire_rpc_handler *handler) {
    sealwire_rpc_server *server = NULL;
    sealwire_options *options = options_of_calls();
    OK(sealwire_rpc_server_new(security, options, handler, &server));
    sealwire_options_free(options);
    return server;
}

static inline sealwire_rpc_client *make_client(const char *endpoint, const sealwire_security *security,
                                               const sealwire_rpc_handler *handler) {
    sealwire_rpc_client *client = NULL;
    sealwire_options *options = options_of_calls();
    OK(sealwire_rpc_client_new(endpoint, security, options, handler, &client));
    sealwire_options_free(options);
    return client;
}

static inline sealwire_security *no_security(void) {
    sealwire_security *security = NULL;
    OK(sealwire_security_plain_text(&security));
    return security;
}

/* Both sides of a mechanism. */
typedef struct {
    const char *name;
    sealwire_security *server;
    sealwire_security *client;
} mechanism;

static inline mechanism make_mechanism(const char *name) {
    mechanism made = {name, NULL, NULL};
    sealwire_keys *keys = NULL;
    sealwire_authenticator *anyone = NULL;
    uint8_t key[SEALWIRE_KEY_SIZE];
    OK(sealwire_keys_generate(&keys));
    OK(sealwire_keys_public(keys, key));
    OK(sealwire_authenticator_anyone(&anyone));
    if (strcmp(name, "BLAKE3") == 0) {
        OK(sealwire_security_blake3_server(keys, anyone, &made.server));
        OK(sealwire_security_blake3_client(key, NULL, &made.client));
    } else if (strcmp(name, "CURVE") == 0) {
        OK(sealwire_security_curve_server(keys, anyone, &made.server));
        OK(sealwire_security_curve_client(key, NULL, &made.client));
    } else {
        OK(sealwire_security_plain_text(&made.server));
        OK(sealwire_security_plain_text(&made.client));
    }
    sealwire_authenticator_free(anyone);
    sealwire_keys_free(keys);
    return made;
}

static inline void free_mechanism(mechanism *made) {
    sealwire_security_free(made->server);
    sealwire_security_free(made->client);
}

/* A BLAKE3 server with a list that has alice's key under her name, and her as a client. */
static inline mechanism make_mechanism_of_alice(void) {
    mechanism made = {"BLAKE3", NULL, NULL};
    sealwire_keys *server_keys = NULL, *alice = NULL;
    sealwire_authenticator *list = NULL;
    uint8_t key[SEALWIRE_KEY_SIZE];
    OK(sealwire_keys_generate(&server_keys));
    OK(sealwire_keys_generate(&alice));
    OK(sealwire_authenticator_keys(&list));
    OK(sealwire_keys_public(alice, key));
    OK(sealwire_authenticator_allow(list, key, "alice"));
    OK(sealwire_security_blake3_server(server_keys, list, &made.server));
    OK(sealwire_keys_public(server_keys, key));
    OK(sealwire_security_blake3_client(key, alice, &made.client));
    sealwire_authenticator_free(list);
    sealwire_keys_free(server_keys);
    sealwire_keys_free(alice);
    return made;
}

static inline void send_text(const sealwire_socket *socket, const char *text) {
    OK(sealwire_socket_send_bytes(socket, text, strlen(text), SEALWIRE_WAIT));
}

static inline sealwire_message *receive(const sealwire_socket *socket) {
    sealwire_message *message = NULL;
    OK(sealwire_socket_recv(socket, SEALWIRE_WAIT, &message));
    return message;
}

static inline int says(const sealwire_message *message, const char *text) {
    return sealwire_message_size(message) == strlen(text)
        && memcmp(sealwire_message_data(message), text, strlen(text)) == 0;
}

static inline void receive_text(const sealwire_socket *socket, const char *text) {
    sealwire_message *message = receive(socket);
    CHECK(says(message, text));
    sealwire_message_free(message);
}

/* Opens a call with streams. A busy machine may take longer to connect than a client waits for it. */
static inline sealwire_rpc_stream *open_call(const sealwire_rpc_client *client, const void *body,
                                             size_t size) {
    sealwire_rpc_stream *stream = NULL;
    sealwire_status status = SEALWIRE_ERROR_RPC_CONNECT;
    for (int i = 0; i < 100 && status == SEALWIRE_ERROR_RPC_CONNECT; i++) {
        status = sealwire_rpc_client_open(client, body, size, 10 * TIMEOUT, &stream, NULL);
    }
    OK(status);
    return stream;
}

/* Reads events until one of this kind comes. */
static inline sealwire_event *await_event(const sealwire_monitor *monitor, int32_t kind) {
    for (;;) {
        sealwire_event *event = NULL;
        OK(sealwire_monitor_next(monitor, TIMEOUT, &event));
        if (sealwire_event_kind(event) == kind) {
            return event;
        }
        sealwire_event_free(event);
    }
}

#endif
